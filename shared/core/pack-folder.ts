import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Bytes of a tar block. */
const blockBytes = 512;
/** Lengths of the fields of a path in a tar header. */
const nameBytes = 100;
const prefixBytes = 155;

/**
 * Packs the files of a folder into an archive that npm can install: a gzipped tar whose paths begin with `package/`. Equal files give equal
 * archives. Names that begin with a dot are left out, because programs write such files into their folder.
 * @throws Error if a path is too long for a tar header
 */
export async function packFolder(folder: string): Promise<Buffer> {
  const files = await listFiles(folder);
  return pipeline(writeArchive(folder, files), createGzip({ level: 9 }), buffer);
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.')))
    .sort();
}

async function* writeArchive(folder: string, files: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of files) {
    const file = join(folder, path);
    const { size, mode } = await stat(file);
    yield createHeader(`package/${path}`, size, mode & 0o100 ? 0o755 : 0o644);
    yield* createReadStream(file) as AsyncIterable<Buffer>;
    yield Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
  }
  yield Buffer.alloc(2 * blockBytes);
}

/** Creates a header as POSIX defines it (ustar). Numbers are octal. The checksum is computed as if its own field contained blanks. */
function createHeader(path: string, size: number, mode: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const [prefix, name] = splitPath(path);
  header.write(name, 0);
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(size, 11)}\0${octal(0, 11)}\0`, nameBytes);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(prefix, 345);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 6)}\0 `, 148);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Splits a path at a slash into the two fields of a header. */
function splitPath(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= nameBytes) return ['', path];
  const slash = path.indexOf('/', path.length - nameBytes - 1);
  const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
  if (slash < 0 || Buffer.byteLength(prefix) > prefixBytes || Buffer.byteLength(name) > nameBytes)
    throw new Error(`The path is too long for an archive: ${path}`);
  return [prefix, name];
}
