import { hash } from 'node:crypto';

/** Each sample is one byte. */
const samplesPerSecond = 8000;
const samplesPerPiece = 400;
/** Value of the length fields if the length of the sound is unknown. */
const unknownLength = 0xff_ff_ff_ff;

/** Returns the header of a WAV file of unknown length. */
export function createWavHeader(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(unknownLength, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  // The format is PCM with one channel.
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(unknownLength, 40);
  return header;
}

/** Returns a tone for a piece of text. The same text always gets the same tone. */
export function synthesizeTone(text: string): Buffer {
  const pitch = 200 + (hash('sha256', text, 'buffer').readUInt16LE(0) % 600);
  return Buffer.from(
    Array.from({ length: samplesPerPiece }, (_, at) =>
      Math.round(128 + 60 * Math.sin((2 * Math.PI * pitch * at) / samplesPerSecond)),
    ),
  );
}
