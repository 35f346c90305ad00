// Runs rondo.js many times in one process, since node takes longer to begin than most of these runs take.
// usage: node many.js RONDO.js <COMMANDS >RESULTS; both JSON: lists of words, and {status, out, err} for each
const fs = require('fs');
const path = require('path');
const program = path.resolve(process.argv[2]);
const commands = JSON.parse(fs.readFileSync(0, 'utf8'));
const { closeSync, writeSync } = fs;
const results = [];
process.on = () => process; // each run would add its handlers of exceptions
fs.closeSync = (fd) => fd > 2 && closeSync(fd); // and close what all of them use
const { Module } = WebAssembly;
let binary, compiled; // once, since compiling takes longer than most of these runs; each has an instance and a memory of its own
WebAssembly.Module = function (bytes) {
  if (!binary || Buffer.compare(binary, bytes) !== 0) [binary, compiled] = [bytes, new Module(bytes)];
  return compiled;
};
for (const words of commands) {
  const said = { 1: [], 2: [] };
  let status = null;
  process.argv = [process.argv[0], program, ...words];
  process.exit = (code) => {
    status ??= code;
    throw 'unwind'; // which its main takes for the end
  };
  fs.writeSync = (fd, bytes, offset, length, position) => {
    if (!(fd in said)) return writeSync(fd, bytes, offset, length, position);
    said[fd].push(Uint8Array.prototype.slice.call(bytes, offset, offset + length)); // a copy
    return length;
  };
  delete require.cache[program];
  try {
    require(program);
  } catch (fault) {
    if (fault !== 'unwind') {
      status = -1;
      said[2].push(Buffer.from(String(fault.stack || fault)));
    }
  }
  fs.writeSync = writeSync;
  results.push({ status, out: Buffer.concat(said[1]).toString(), err: Buffer.concat(said[2]).toString() });
}
fs.writeFileSync(1, JSON.stringify(results));
