autocmd BufRead,BufNewFile *.rondo setfiletype rondo
