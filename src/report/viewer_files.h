/* The files of src/report/viewer, embedded by cmake/embed.cmake; strings. */
#ifndef RONDO_REPORT_VIEWER_FILES_H
#define RONDO_REPORT_VIEWER_FILES_H

extern const char diagram_css[]; /* of every drawing */
extern const char viewer_css[], viewer_js[], viewer_body[];

#endif
