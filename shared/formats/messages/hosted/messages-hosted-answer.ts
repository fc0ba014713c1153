import type { JsonObject } from '#shared/core/json.ts';
import { addUsage, noUsage, type Usage } from '#shared/core/usage.ts';
import type { HostedAnswer, HostedCall, RunnableTool, ServedTool, HostedRequest } from '../../hosted/hosted-request.ts';
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
import { toFunction } from './hosted-function.ts';
import { createHostedResultBlock } from './hosted-result-block.ts';
import { isAddressNamed } from './hosted-block.ts';
import { MessagesTurn, writeEvent } from './messages-turn.ts';
import { toModelCallId } from './result-citations.ts';
import { fitThinkingToTokens } from './fit-thinking-to-tokens.ts';
import { RouterError } from '#shared/core/errors.ts';
import { findHostedTools } from './find-hosted-tools.ts';

/** The hosted tool and the served tool that a function's name stands for. */
interface FunctionTarget {
  hosted: RunnableTool['hosted'];
  servedTool: ServedTool;
}

class MessagesHostedAnswer implements HostedAnswer {
  readonly approvedCalls: readonly HostedCall[] = [];
  isComplete = false;
  /** Whether the model called a hosted tool when the output tokens of the request were used up. */
  #isCutOff = false;
  readonly #request: MessagesRequest;
  readonly #toolsByName: ReadonlyMap<string, FunctionTarget>;
  readonly #turnMessages: MessagesMessage[] = [];
  readonly #content: JsonObject[] = [];
  readonly #uses = { web_search: 0, web_fetch: 0, mcp: 0 };
  /** Results of all searches so far, for citations. */
  readonly #searchResults: SearchResult[] = [];
  #events = new EventObjects();
  #turn: MessagesTurn;
  #turnCount = 0;
  #message: JsonObject = {};
  #unansweredCalls: HostedCall[] = [];
  #toolResults: ToolResultBlock[] = [];
  #usage: Usage = noUsage;

  /** @param request the client's request, including defaults */
  constructor(request: MessagesRequest, tools: readonly RunnableTool[]) {
    this.#request = request;
    this.#toolsByName = new Map(
      tools.flatMap(({ hosted, servedTools: [servedTool] }): [string, FunctionTarget][] => {
        const name = findToolName(request, hosted.param);
        return servedTool && name !== undefined ? [[name, { hosted, servedTool }]] : [];
      }),
    );
    this.#turn = this.#createTurn();
  }

  writeNextRequest(isLast: boolean): Buffer {
    const { messages, tools } = this.#request;
    const clientTools = (tools ?? []).filter(({ name }) => !this.#toolsByName.has(name));
    const mayCall = !isLast || clientTools.length > 0;
    const tokensLeft = this.#outputLeft;
    const body = {
      ...this.#request,
      messages: [...messages, ...this.#turnMessages],
      tools: (isLast && mayCall ? clientTools : (tools ?? [])).map(toFunction),
      ...chooseToolChoice(this.#request.tool_choice, this.#turnCount > 0, mayCall),
      ...(tokensLeft !== undefined && { max_tokens: tokensLeft, ...fitThinkingToTokens(this.#request, tokensLeft) }),
      stream: true,
    };
    this.#turn = this.#createTurn();
    this.#events = new EventObjects();
    return Buffer.from(JSON.stringify(body));
  }

  relay(piece: Uint8Array): string {
    return this.#events
      .read(piece)
      .map((event) => this.#turn.relayEvent(event))
      .join('');
  }

  get turnBytes(): number {
    return this.#turn.keptBytes;
  }

  endTurn(): readonly HostedCall[] {
    const turn = this.#turn;
    if (this.#turnCount === 0) this.#message = turn.message ?? {};
    this.#turnCount += 1;
    this.#content.push(...turn.clientBlocks);
    this.#usage = addUsage(this.#usage, turn.usage);
    const calls = turn.calls.flatMap(({ id, name, input }): HostedCall[] => {
      const target = this.#toolsByName.get(name);
      return target ? [{ id, input, ...target }] : [];
    });
    const isCalling = turn.stopReason === 'tool_use';
    // If no output tokens are left, the model cannot use the results of these calls.
    this.#isCutOff = isCalling && !turn.hasClientCalls && calls.length > 0 && (this.#outputLeft ?? 1) <= 0;
    this.isComplete = turn.hasClientCalls || calls.length === 0 || !isCalling || this.#isCutOff;
    this.#unansweredCalls = [...calls];
    this.#toolResults = [];
    return isCalling && !this.#isCutOff ? calls : [];
  }

  /** Output tokens that remain of the request's limit; undefined if the request sets no limit. */
  get #outputLeft(): number | undefined {
    const { max_tokens: limit } = this.#request;
    return limit === undefined ? undefined : limit - this.#usage.completionTokens;
  }

  namesAddress(url: string): boolean {
    return isAddressNamed([...this.#request.messages, ...this.#turnMessages], url);
  }

  answerCall(call: HostedCall, outcome: HostedOutcome): string {
    if (outcome.kind === 'found') this.#searchResults.push(...outcome.results);
    this.#unansweredCalls = this.#unansweredCalls.filter(({ id }) => id !== call.id);
    // A failed call does not count as a use. Anthropic does not charge for it either.
    if (outcome.kind !== 'failed') this.#uses[call.hosted.kind] += 1;
    this.#toolResults.push({
      type: 'tool_result',
      tool_use_id: toModelCallId(call.id),
      content: writeOutcomeText(outcome),
      ...(isFailure(outcome) && { is_error: true }),
    });
    if (this.#unansweredCalls.length === 0) this.#appendToHistory();
    const block = createHostedResultBlock(call, outcome);
    const index = this.#content.push(block) - 1;
    return (
      writeEvent({ type: 'content_block_start', index, content_block: block }) +
      writeEvent({ type: 'content_block_stop', index })
    );
  }

  finish(): string {
    const message = 'The answer ended before this call.';
    const failedCalls = this.#unansweredCalls.map((call) =>
      this.answerCall(call, { kind: 'failed', reason: 'unavailable', message }),
    );
    return [...failedCalls, writeEvent(this.#writeLastDelta()), writeEvent({ type: 'message_stop' })].join('');
  }

  buildWholeAnswer(): JsonObject {
    const { delta, usage } = this.#writeLastDelta();
    return { ...this.#message, content: this.#content, ...(delta as JsonObject), usage };
  }

  /** Adds the turn and the results of its calls to the input of the next turn. */
  #appendToHistory(): void {
    this.#turnMessages.push(
      { role: 'assistant', content: this.#turn.blocks as MessagesBlock[] },
      { role: 'user', content: this.#toolResults },
    );
  }

  #writeLastDelta(): JsonObject {
    const { delta, stopReason, hasClientCalls } = this.#turn;
    const fields = delta['delta'] as JsonObject;
    // `tool_use` would ask the client to answer the call of a hosted tool.
    const endingReason = this.#isCutOff ? 'max_tokens' : 'end_turn';
    const reason = stopReason === 'tool_use' && !hasClientCalls ? endingReason : (stopReason ?? null);
    const usage = {
      ...(delta['usage'] as JsonObject | undefined),
      ...writeMessagesUsage(this.#usage),
      server_tool_use: { web_search_requests: this.#uses.web_search, web_fetch_requests: this.#uses.web_fetch },
    };
    return { ...delta, delta: { ...fields, stop_reason: reason }, usage };
  }

  #createTurn(): MessagesTurn {
    return new MessagesTurn(this.#content.length, (name) => this.#toolsByName.has(name), this.#searchResults);
  }
}

/** Returns the name of the tool at a path such as `tools.2.type`. */
function findToolName({ tools }: MessagesRequest, param: string): string | undefined {
  return tools?.[Number(param.split('.')[1])]?.name;
}

/**
 * Returns the tool choice of a turn. A choice that requires a call applies only to the first turn. In later turns, the model could
 * otherwise never answer.
 */
function chooseToolChoice(
  choice: MessagesToolChoice | null | undefined,
  isLaterTurn: boolean,
  mayCall: boolean,
): JsonObject {
  if (!mayCall) return { tool_choice: { type: 'none' } };
  if (!isLaterTurn || !choice || (choice.type !== 'any' && choice.type !== 'tool')) return {};
  const { disable_parallel_tool_use: disableParallel } = choice;
  return {
    tool_choice: { type: 'auto', ...(disableParallel !== undefined && { disable_parallel_tool_use: disableParallel }) },
  };
}

export function createMessagesHostedRequest(request: MessagesRequest): HostedRequest | undefined {
  const tools = findHostedTools(request);
  if (tools.length === 0) return undefined;
  return {
    tools,
    createRefusal: ({ param, title }, reason) =>
      new RouterError('unsupported_parameter', `${param}: '${title}' cannot be run here: ${reason}`, { param }),
    withFunctions: (body) => {
      const { tools: requestTools } = body as MessagesRequest;
      return Buffer.from(JSON.stringify({ ...body, tools: (requestTools ?? []).map(toFunction) }));
    },
    // The body has passed `parseMessagesRequest`.
    createAnswer: (body, runnable) => new MessagesHostedAnswer(body as MessagesRequest, runnable),
  };
}
