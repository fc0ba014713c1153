import { hash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

/** Pixels of a side if no size is requested. */
const defaultSide = 64;
const cells = 8;
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Returns a PNG with a pattern of squares. The same text always gets the same picture.
 * @param side number of pixels of a side; undefined for a small picture. A picture with a requested size has grain, so that its file is as
 * large as the file of a photograph
 */
export function drawPicture(text: string, side?: number): Buffer {
  return encodePng(
    side === undefined ? drawRows(text, defaultSide) : addGrain(drawRows(text, side), text, side),
    side ?? defaultSide,
  );
}

/** Returns rows of pixels. Each row begins with a 0 byte, the PNG filter type "none". */
function drawRows(text: string, side: number): Buffer {
  const digest = hash('sha256', text, 'buffer');
  const [red = 0, green = 0, blue = 0] = digest;
  const rows = Array.from({ length: cells }, (_, cellY) => {
    const bits = digest[8 + cellY] ?? 0;
    const row = Buffer.alloc(1 + side * 3);
    for (let x = 0; x < side; x += 1) {
      const isSet = (bits >>> Math.floor((x * cells) / side)) % 2 === 0;
      row.set(isSet ? [red, green, blue] : [255, 255, 255], 1 + x * 3);
    }
    return row;
  });
  return Buffer.concat(Array.from({ length: side }, (_, y) => rows[Math.floor((y * cells) / side)] ?? Buffer.alloc(0)));
}

/** Returns the rows with four bits of grain in each colour. */
function addGrain(rows: Buffer, text: string, side: number): Buffer {
  const noise = hash('shake256', text, { outputEncoding: 'buffer', outputLength: rows.length });
  return Buffer.from(rows.map((byte, at) => (at % (1 + side * 3) === 0 ? byte : byte ^ ((noise[at] ?? 0) & 0x0f))));
}

function encodePng(rows: Buffer, side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // The picture has 8 bits for each of the colours red, green and blue.
  header.set([8, 2], 8);
  const data = deflateSync(rows, { level: 1 });
  return Buffer.concat([
    signature,
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', data),
    encodeChunk('IEND', Buffer.alloc(0)),
  ]);
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
