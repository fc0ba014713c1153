import type { Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { HostedAnswer, HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import type { HostedOutcome } from '#shared/formats/hosted/hosted-outcome.ts';
import type { StreamedAnswer } from '#shared/formats/sse/streamed-answer.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { RunningRequest } from '../run-job.ts';
import type { ModelSink } from '../serve-model.ts';
import { LoopMemory } from './loop-memory.ts';
import { TurnSink } from './turn-sink.ts';

export interface HostedLoopParts {
  answer: HostedAnswer;
  sink: ModelSink;
  stream: boolean;
  /** Creates the counter for the tokens of a turn. A turn is a stream in the client's format. */
  createCounter: () => Pick<StreamedAnswer, 'relay' | 'tokens'>;
  bounds: Pick<Registry['hosted_tools'], 'max_uses' | 'max_ms'>;
  /**
   * Requests the model's next turn.
   * @param previous the placement that served the previous turn; undefined for the first turn
   * @returns undefined if the caller has left
   */
  askModel: (body: Buffer, sink: ModelSink, previous: Placement | undefined) => Promise<RunningRequest | undefined>;
  /** Runs a call. Calls of the same turn run at the same time. */
  runCall: (call: HostedCall, signal: AbortSignal, onKeepAlive: () => void) => Promise<HostedOutcome>;
}

/** Maximum bytes of the events of all turns of one answer. */
const maxBytes = 64 * 1024 * 1024;

interface Turn {
  running: RunningRequest;
  sink: TurnSink;
}

interface LoopParts extends HostedLoopParts {
  relay: HostedAnswer['relay'];
  memory: LoopMemory;
}

/**
 * Serves one request with hosted tools that the router runs. The loop requests a turn of the model, runs the calls of the turn, and
 * requests the next turn. The loop ends when the model answers or calls a tool of the client. When the permitted number of calls or the
 * permitted time is used up, the loop requests a last turn without hosted tools.
 */
export class HostedLoop implements RunningRequest {
  readonly finished: Promise<void>;
  readonly #parts: LoopParts;
  readonly #startedAt = performance.now();
  readonly #stopped = new AbortController();
  readonly #uses = new Map<HostedCall['hosted'], number>();
  #totalUses = 0;
  /** Whether a tool has been called that may change something. */
  #hadEffects = false;
  #running: RunningRequest | undefined;
  #failure: RouterError | undefined;

  private constructor(parts: LoopParts, first: Turn | undefined) {
    this.#parts = parts;
    this.#running = first?.running;
    this.finished = this.#run(first);
  }

  /**
   * Begins the answer.
   * @returns undefined if the caller has left
   * @throws RouterError of `askModel` or of `ModelSink.hold` for the first turn, so that a refusal decides the status of the answer
   */
  static async begin(loopParts: HostedLoopParts): Promise<HostedLoop | undefined> {
    const memory = new LoopMemory((bytes, bound) => loopParts.sink.hold?.(bytes, bound));
    const parts = { ...loopParts, relay: limitRelay(loopParts.answer, memory), memory };
    if (parts.answer.approvedCalls.length > 0) return new HostedLoop(parts, undefined);
    const first = await requestTurn(parts, false, undefined, true);
    return first && new HostedLoop(parts, first);
  }

  readonly cancel = (): void => {
    this.#stopped.abort();
    this.#running?.cancel();
  };

  readonly fail = (error: RouterError): void => {
    this.#failure ??= error;
    this.cancel();
  };

  async #run(first: Turn | undefined): Promise<void> {
    const { answer, sink, stream } = this.#parts;
    try {
      await this.#runCalls(answer.approvedCalls);
      await this.#runTurns(first);
      if (this.#failure) throw this.#failure;
      if (this.#isStopped) return;
      const events = answer.finish();
      sink.end(Buffer.from(stream ? events : JSON.stringify(answer.buildWholeAnswer())));
    } catch (error) {
      this.cancel();
      const failure =
        error instanceof RouterError
          ? error
          : new RouterError('internal', 'The answer could not be assembled.', { cause: error });
      sink.fail(this.#hadEffects ? failure.withEffects() : failure);
    }
  }

  get #isStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #runTurns(first: Turn | undefined): Promise<void> {
    const { answer } = this.#parts;
    let turn = first;
    let previous: Placement | undefined;
    let turns = 0;
    // Refused calls do not count as uses, so turns are limited as well.
    for (let isLast = false; !this.#isStopped; isLast = this.#isUsedUp || turns >= this.#parts.bounds.max_uses) {
      turn ??= await requestTurn(this.#parts, isLast, previous, first === undefined && previous === undefined);
      if (!turn) return this.cancel();
      this.#running = turn.running;
      if (this.#isStopped) turn.running.cancel();
      await turn.running.finished;
      this.#running = undefined;
      const { ending, servedBy } = turn.sink;
      if (ending instanceof RouterError) throw ending;
      if (ending === undefined) return this.cancel();
      const calls = answer.endTurn();
      turns += 1;
      if (isLast) return;
      await this.#runCalls(calls);
      if (answer.isComplete) return;
      previous = servedBy;
      turn = undefined;
    }
  }

  get #isUsedUp(): boolean {
    const { bounds, answer } = this.#parts;
    const { max_uses: maxUses, max_ms: maxMs } = bounds;
    return (
      this.#totalUses >= Math.min(maxUses, answer.maxCalls ?? maxUses) || performance.now() - this.#startedAt >= maxMs
    );
  }

  /** Runs the calls of a turn at the same time, and writes their outcomes in order. */
  async #runCalls(calls: readonly HostedCall[]): Promise<void> {
    const { answer, sink, stream, memory } = this.#parts;
    const outcomes = calls.map((call) => this.#runCall(call));
    // A call may fail while the loop awaits another call. Its unhandled rejection would end the process.
    for (const outcome of outcomes) outcome.catch(() => undefined);
    for (const [at, call] of calls.entries()) {
      const outcome = await outcomes[at];
      if (!outcome || this.#isStopped) continue;
      const events = answer.answerCall(call, outcome);
      memory.holdEvents(events);
      if (stream && events !== '') sink.data(Buffer.from(events));
    }
  }

  async #runCall(call: HostedCall): Promise<HostedOutcome> {
    const { hosted } = call;
    const uses = this.#uses.get(hosted) ?? 0;
    if (this.#isUsedUp || uses >= (hosted.maxUses ?? Number.POSITIVE_INFINITY))
      return { kind: 'failed', reason: 'max_uses_exceeded', message: 'No further calls of this tool are possible.' };
    const { url } = call.input;
    if (hosted.kind === 'web_fetch' && typeof url === 'string' && !this.#parts.answer.namesAddress(url))
      return { kind: 'failed', reason: 'url_unknown', message: 'The conversation does not name this address.' };
    this.#uses.set(hosted, uses + 1);
    this.#totalUses += 1;
    this.#hadEffects ||= hosted.kind === 'mcp';
    const { stream, sink, memory } = this.#parts;
    const outcome = await this.#parts.runCall(call, this.#stopped.signal, () => {
      if (stream && !this.#isStopped) sink.keepAlive();
    });
    // The outcome of a call that ends first waits for those of the calls before it. After the end of the answer, nothing is kept.
    if (!this.#isStopped) memory.holdOutcome(outcome);
    return outcome;
  }
}

/**
 * Returns the answer's `relay` with a limit on the bytes of all turns together. The returned function throws RouterError `upstream_failed`
 * if the turns are too large, or the error of `LoopMemory`.
 */
function limitRelay(answer: HostedAnswer, memory: LoopMemory): HostedAnswer['relay'] {
  let bytes = 0;
  return (piece) => {
    bytes += piece.length;
    if (bytes > maxBytes) throw new RouterError('upstream_failed', 'The answer is too large.');
    const events = answer.relay(piece);
    memory.holdTurn(answer.turnBytes);
    return events;
  };
}

async function requestTurn(
  { answer, sink, stream, relay, memory, createCounter, askModel }: LoopParts,
  isLast: boolean,
  previous: Placement | undefined,
  isFirst: boolean,
): Promise<Turn | undefined> {
  const turn = new TurnSink({ sink, stream, isFirst, relay, counter: createCounter() });
  const body = answer.writeNextRequest(isLast);
  memory.holdBody(body.length);
  const running = await askModel(body, turn, previous);
  return running && { running, sink: turn };
}
