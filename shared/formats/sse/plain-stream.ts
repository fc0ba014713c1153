import type { StreamedAnswer } from './streamed-answer.ts';

/** A streamed answer of plain bytes, such as sound. The router adds no keep-alives and no errors. */
export class PlainStream implements StreamedAnswer {
  readonly isPlain = true;
  readonly tokens = 0;

  relay(piece: Uint8Array): Uint8Array {
    return piece;
  }

  keepAlive(): string {
    return '';
  }

  errorEvent(): string {
    return '';
  }
}
