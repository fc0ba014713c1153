import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import { partialEvents, type PartialEvent } from '#shared/formats/sse/partial-events.ts';
import {
  decodeToolEvent,
  decodeToolResult,
  type ToolProgress,
  type ToolResult,
} from '#shared/formats/tools/tool-result.ts';

/** Default limit for the bytes of an answer, or of one event of a streamed answer. Workers let tools return less. */
const defaultMaxBytes = 64 * 1024 * 1024;

/** Collects a tool's answer: the result alone, or a stream of progress events that ends with the result. */
export class ToolReply implements JobSink {
  /** Rejects with the call's RouterError. Stays pending if the call was cancelled. */
  readonly result: Promise<ToolResult>;
  readonly #settle: { resolve: (result: ToolResult) => void; reject: (reason: unknown) => void };
  readonly #onProgress: ((progress: ToolProgress) => void) | undefined;
  readonly #onKeepAlive: (() => void) | undefined;
  readonly #maxBytes: number;
  /** The beginning of an event; undefined until the first bytes that do not end with an event. */
  #partial: PartialEvent | undefined;
  #result: ToolResult | undefined;

  /**
   * @param onProgress called with each progress event; undefined for an answer that is not streamed
   * @param onKeepAlive called if a streamed answer has had no events for a while; undefined if the client needs no sign of life
   * @param maxBytes maximum bytes of the answer, or of one event of a streamed answer
   */
  constructor(
    onProgress: ((progress: ToolProgress) => void) | undefined,
    onKeepAlive?: () => void,
    maxBytes = defaultMaxBytes,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
    this.result = promise;
    this.#settle = { resolve, reject };
    this.#onProgress = onProgress;
    this.#onKeepAlive = onKeepAlive;
    this.#maxBytes = maxBytes;
  }

  begin(): void {
    // The tools format has no field for the worker.
  }

  data(bytes: Uint8Array): void {
    try {
      this.#readEvents(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    } catch (error) {
      this.#settle.reject(createUnreadableError(error));
    }
  }

  keepAlive(): void {
    this.#onKeepAlive?.();
  }

  end(bytes: Uint8Array): void {
    try {
      if (this.#onProgress) this.#readEvents(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      else this.#result = decodeToolResult(this.#assertSize(Buffer.from(bytes)));
    } catch (error) {
      this.#settle.reject(createUnreadableError(error));
    }
    if (this.#result) this.#settle.resolve(this.#result);
    else this.#settle.reject(createUnreadableError(undefined));
  }

  fail(error: RouterError): void {
    this.#settle.reject(error);
  }

  #assertSize(bytes: Buffer): Buffer {
    if (bytes.length > this.#maxBytes) throw new Error(`an answer is larger than ${this.#maxBytes} bytes`);
    return bytes;
  }

  /** Parses all complete lines and keeps the rest for the next bytes. */
  #readEvents(bytes: Buffer): void {
    let rest = bytes;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const last = rest.subarray(0, end);
      const line = this.#partial?.take(last) ?? last;
      rest = rest.subarray(end + 1);
      const event = decodeToolEvent(line);
      if ('result' in event) this.#result = event.result;
      else this.#onProgress?.(event.progress);
    }
    if (rest.length === 0) return;
    this.#partial ??= partialEvents.open();
    if (this.#partial.bytes + rest.length > this.#maxBytes)
      throw new Error(`an event is larger than ${this.#maxBytes} bytes`);
    this.#partial.add(rest);
  }
}

function createUnreadableError(cause: unknown): RouterError {
  return new RouterError('internal', "The tool's answer could not be read.", { cause });
}
