import { hash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

/** Pixels of a side. */
const side = 64;
const cells = 8;
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG of a pattern of squares. The same text always gets the same one. */
export function drawPicture(text: string): Buffer {
  const digest = hash('sha256', text, 'buffer');
  const [red = 0, green = 0, blue = 0] = digest;
  const rows = Array.from({ length: side }, (_, y) => {
    const pixels = Array.from({ length: side }, (__, x) => {
      const row = digest[8 + Math.floor((y * cells) / side)] ?? 0;
      return (row >>> Math.floor((x * cells) / side)) % 2 === 0 ? [red, green, blue] : [255, 255, 255];
    });
    // Each row begins with its filter: none.
    return [0, ...pixels.flat()];
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // 8 bits per colour, red, green and blue.
  header.set([8, 2], 8);
  const data = deflateSync(Buffer.from(rows.flat()));
  return Buffer.concat([signature, chunkOf('IHDR', header), chunkOf('IDAT', data), chunkOf('IEND', Buffer.alloc(0))]);
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
