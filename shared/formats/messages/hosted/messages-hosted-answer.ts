import type { JsonObject } from '#shared/core/json.ts';
import { addUsage, noUsage, type Usage } from '#shared/core/usage.ts';
import type { HostedAnswer, HostedCall, RunnableTool, ServedTool } from '../../hosted/hosted-request.ts';
import { isFailure, writeOutcomeText, type HostedOutcome, type SearchResult } from '../../hosted/hosted-outcome.ts';
import { EventObjects } from '../../sse/event-objects.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  MessagesRequest,
  MessagesToolChoice,
  ToolResultBlock,
} from '../request.ts';
import { writeMessagesUsage } from '../usage.ts';
import { asFunction } from './hosted-function.ts';
import { hostedResultBlock } from './hosted-result-block.ts';
import { isAddressNamed } from './names-address.ts';
import { MessagesTurn, writeEvent } from './messages-turn.ts';
import { modelCallId } from './result-text-encoding.ts';
import { fitThinkingToTokens } from './thinking-within.ts';

/** The hosted tool and the served tool that a function's name stands for. */
interface FunctionTarget {
  hosted: RunnableTool['hosted'];
  served: ServedTool;
}

export class MessagesHostedAnswer implements HostedAnswer {
  readonly approved: readonly HostedCall[] = [];
  isComplete = false;
  /** Whether the output tokens of the request are used up while the model calls a hosted tool. */
  #isCutOff = false;
  readonly #request: MessagesRequest;
  readonly #toolsByName: ReadonlyMap<string, FunctionTarget>;
  readonly #messages: MessagesMessage[] = [];
  readonly #content: JsonObject[] = [];
  readonly #uses = { web_search: 0, web_fetch: 0, mcp: 0 };
  /** Results of all searches so far, for citations. */
  readonly #searchResults: SearchResult[] = [];
  #events = new EventObjects();
  #turn: MessagesTurn;
  #turns = 0;
  #message: JsonObject = {};
  #unanswered: HostedCall[] = [];
  #results: ToolResultBlock[] = [];
  #usage: Usage = noUsage;

  /** @param request the client's request, with all fields */
  constructor(request: MessagesRequest, tools: readonly RunnableTool[]) {
    this.#request = request;
    this.#toolsByName = new Map(
      tools.flatMap(({ hosted, served: [served] }): [string, FunctionTarget][] => {
        const name = nameAt(request, hosted.param);
        return served && name !== undefined ? [[name, { hosted, served }]] : [];
      }),
    );
    this.#turn = this.#newTurn();
  }

  next(isLast: boolean): Buffer {
    const { messages, tools } = this.#request;
    const own = (tools ?? []).filter(({ name }) => !this.#toolsByName.has(name));
    const mayCall = !isLast || own.length > 0;
    const left = this.#outputLeft;
    const body = {
      ...this.#request,
      messages: [...messages, ...this.#messages],
      tools: (isLast && mayCall ? own : (tools ?? [])).map(asFunction),
      ...choiceOf(this.#request.tool_choice, this.#turns > 0, mayCall),
      ...(left !== undefined && { max_tokens: left, ...fitThinkingToTokens(this.#request, left) }),
      stream: true,
    };
    this.#turn = this.#newTurn();
    this.#events = new EventObjects();
    return Buffer.from(JSON.stringify(body));
  }

  relay(piece: Uint8Array): string {
    return this.#events
      .read(piece)
      .map((event) => this.#turn.event(event))
      .join('');
  }

  endTurn(): readonly HostedCall[] {
    const turn = this.#turn;
    if (this.#turns === 0) this.#message = turn.message ?? {};
    this.#turns += 1;
    this.#content.push(...turn.clientBlocks);
    this.#usage = addUsage(this.#usage, turn.usage);
    const calls = turn.calls.flatMap(({ id, name, input }): HostedCall[] => {
      const behind = this.#toolsByName.get(name);
      return behind ? [{ id, input, ...behind }] : [];
    });
    const asks = turn.stopReason === 'tool_use';
    // If no output tokens are left, the model cannot use the results of these calls.
    this.#isCutOff = asks && !turn.callsClient && calls.length > 0 && (this.#outputLeft ?? 1) <= 0;
    this.isComplete = turn.callsClient || calls.length === 0 || !asks || this.#isCutOff;
    this.#unanswered = [...calls];
    this.#results = [];
    return asks && !this.#isCutOff ? calls : [];
  }

  /** How many of the request's output tokens are left; undefined if the request sets no limit. */
  get #outputLeft(): number | undefined {
    const { max_tokens: limit } = this.#request;
    return limit === undefined ? undefined : limit - this.#usage.completionTokens;
  }

  namesAddress(url: string): boolean {
    return isAddressNamed([...this.#request.messages, ...this.#messages], url);
  }

  answerCall(call: HostedCall, outcome: HostedOutcome): string {
    if (outcome.kind === 'found') this.#searchResults.push(...outcome.results);
    this.#unanswered = this.#unanswered.filter(({ id }) => id !== call.id);
    // Failed calls are not charged, as at Anthropic.
    if (outcome.kind !== 'failed') this.#uses[call.hosted.kind] += 1;
    this.#results.push({
      type: 'tool_result',
      tool_use_id: modelCallId(call.id),
      content: writeOutcomeText(outcome),
      ...(isFailure(outcome) && { is_error: true }),
    });
    if (this.#unanswered.length === 0) this.#appendToHistory();
    const block = hostedResultBlock(call, outcome);
    const index = this.#content.push(block) - 1;
    return (
      writeEvent({ type: 'content_block_start', index, content_block: block }) +
      writeEvent({ type: 'content_block_stop', index })
    );
  }

  finish(): string {
    const message = 'The answer ended before this call.';
    const failed = this.#unanswered.map((call) =>
      this.answerCall(call, { kind: 'failed', reason: 'unavailable', message }),
    );
    return [...failed, writeEvent(this.#lastDelta()), writeEvent({ type: 'message_stop' })].join('');
  }

  wholeAnswer(): JsonObject {
    const { delta, usage } = this.#lastDelta();
    return { ...this.#message, content: this.#content, ...(delta as JsonObject), usage };
  }

  /** Adds the turn and the results of its calls to the input of the next turn. */
  #appendToHistory(): void {
    this.#messages.push(
      { role: 'assistant', content: this.#turn.blocks as MessagesBlock[] },
      { role: 'user', content: this.#results },
    );
  }

  #lastDelta(): JsonObject {
    const { delta, stopReason, callsClient } = this.#turn;
    const fields = delta['delta'] as JsonObject;
    // The client must not answer the call of a hosted tool.
    const hosted = this.#isCutOff ? 'max_tokens' : 'end_turn';
    const reason = stopReason === 'tool_use' && !callsClient ? hosted : (stopReason ?? null);
    const usage = {
      ...(delta['usage'] as JsonObject | undefined),
      ...writeMessagesUsage(this.#usage),
      server_tool_use: { web_search_requests: this.#uses.web_search, web_fetch_requests: this.#uses.web_fetch },
    };
    return { ...delta, delta: { ...fields, stop_reason: reason }, usage };
  }

  #newTurn(): MessagesTurn {
    return new MessagesTurn(this.#content.length, (name) => this.#toolsByName.has(name), this.#searchResults);
  }
}

/** Returns the name of the tool at a path such as `tools.2.type`. */
function nameAt({ tools }: MessagesRequest, param: string): string | undefined {
  return tools?.[Number(param.split('.')[1])]?.name;
}

/**
 * Returns the tool choice of a turn. A choice that requires a call applies to the first turn only, because in later turns it would keep the
 * model from ever answering.
 */
function choiceOf(choice: MessagesToolChoice | null | undefined, isLater: boolean, mayCall: boolean): JsonObject {
  if (!mayCall) return { tool_choice: { type: 'none' } };
  if (!isLater || !choice || (choice.type !== 'any' && choice.type !== 'tool')) return {};
  const { disable_parallel_tool_use: single } = choice;
  return { tool_choice: { type: 'auto', ...(single !== undefined && { disable_parallel_tool_use: single }) } };
}
