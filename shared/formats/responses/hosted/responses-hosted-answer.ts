import type { JsonObject } from '#shared/core/json.ts';
import type { HostedAnswer, HostedCall, RunnableTool, HostedRequest } from '../../hosted/hosted-request.ts';
import { isFailure, writeOutcomeText, type HostedOutcome, type SearchResult } from '../../hosted/hosted-outcome.ts';
import { EventObjects } from '../../sse/event-objects.ts';
import type { ResponsesItem, ResponsesRequest, ResponsesTool } from '../request.ts';
import { readRepeatedFields } from '../response-object.ts';
import { AnswerEvents } from './answer-events.ts';
import { findApprovedCalls } from './find-approved-calls.ts';
import { addOutcome, createItemId } from './hosted-item.ts';
import { createHostedFunctions, type HostedFunction, replaceHostedTools } from './hosted-functions.ts';
import { replaceHostedItems } from './with-function-calls.ts';
import { beginCall, ResponsesTurn, type OpenCall } from './responses-turn.ts';
import { sumUsage } from '../usage.ts';
import { createToolFields } from './turn-tools.ts';
import { RouterError } from '#shared/core/errors.ts';
import { findHostedTools } from './find-hosted-tools.ts';
import { changeAddedTools } from './request-tools.ts';

/** OpenAI's minimum for a limit of output tokens. */
const minOutputTokens = 16;

/** An answer in the Responses format for which the router runs web search and the tools of MCP servers. */
class ResponsesHostedAnswer implements HostedAnswer {
  readonly approvedCalls: readonly HostedCall[];
  isComplete = false;
  /** Whether the model called a hosted tool when the output tokens of the request were used up. */
  #isCutOff = false;
  readonly #request: ResponsesRequest;
  readonly #functions: readonly HostedFunction[];
  readonly #runnable: readonly RunnableTool[];
  readonly #input: readonly ResponsesItem[];
  readonly #events = new AnswerEvents();
  readonly #turnItems: JsonObject[] = [];
  /** Results of all searches so far, for citations. */
  readonly #searchResults: SearchResult[] = [];
  /** Outputs of approved calls, by the id of the call. */
  readonly #approvedOutputs = new Map<string, string>();
  /** Approved calls with their outcomes. */
  readonly #approvedOutcomes: { call: HostedCall; outcome: HostedOutcome }[] = [];
  #eventReader = new EventObjects();
  #turn: ResponsesTurn | undefined;
  #turnCount = 0;
  /** The id and the time of the first turn. */
  #createdResponse: JsonObject = {};
  #lastResponse: JsonObject = {};
  #usage: JsonObject | undefined;
  #openCalls: OpenCall[] = [];

  /** @param request the client's request, including defaults */
  constructor(request: ResponsesRequest, runnable: readonly RunnableTool[]) {
    const { input } = request;
    this.#request = request;
    this.#runnable = runnable;
    this.#functions = createHostedFunctions(request, runnable);
    this.#input = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : (input ?? []);
    this.approvedCalls = findApprovedCalls(this.#input, this.#functions);
  }

  writeNextRequest(isLast: boolean): Buffer {
    const { max_tool_calls: _, include, ...fields } = this.#request;
    const input = [...replaceHostedItems(this.#input, this.#approvedOutputs), ...(this.#turnItems as ResponsesItem[])];
    const tokensLeft = this.#outputLeft;
    const body = {
      ...fields,
      ...createToolFields({
        request: this.#request,
        input,
        functions: this.#functions,
        isFirst: this.#turnCount === 0,
        isLast,
      }),
      ...(include && { include: include.filter(isModelField) }),
      // The model needs its thinking in the next turn. Only an answer to a request with `store` contains the whole thinking. The router
      // does not store the turns.
      store: true,
      ...(tokensLeft !== undefined && { max_output_tokens: tokensLeft }),
      stream: true,
    };
    this.#events.beginTurn();
    this.#eventReader = new EventObjects();
    this.#turn = new ResponsesTurn({
      events: this.#events,
      // If the request lists a tool twice, its last entry counts.
      findFunction: (name) => this.#functions.findLast((each) => each.name === name),
      onCreated: (response) => this.#writeOpening(response),
      readIdPart: () => this.#idPart,
      searchResults: this.#searchResults,
    });
    return Buffer.from(JSON.stringify(body));
  }

  relay(piece: Uint8Array): string {
    return this.#eventReader
      .read(piece)
      .map((event) => this.#turn?.relayEvent(event) ?? '')
      .join('');
  }

  get turnBytes(): number {
    return this.#turn?.keptBytes ?? 0;
  }

  endTurn(): readonly HostedCall[] {
    const turn = this.#turn;
    if (!turn) return [];
    this.#turnCount += 1;
    this.#lastResponse = turn.response;
    this.#usage = sumUsage(this.#usage, turn.response['usage']);
    this.#turnItems.push(...turn.items);
    this.#openCalls = [...turn.calls];
    const isWhole = turn.response['status'] === 'completed';
    // If no output tokens are left, the model cannot use the outputs of these calls.
    this.#isCutOff =
      isWhole &&
      !turn.hasClientRequests &&
      turn.calls.length > 0 &&
      (this.#outputLeft ?? minOutputTokens) < minOutputTokens;
    this.isComplete = turn.hasClientRequests || turn.calls.length === 0 || !isWhole || this.#isCutOff;
    return isWhole && !this.#isCutOff ? turn.calls.map(({ call }) => call) : [];
  }

  get maxCalls(): number | undefined {
    const { max_tool_calls: limit } = this.#request;
    return typeof limit === 'number' ? limit : undefined;
  }

  /** Output tokens that remain of the request's limit; undefined if the request sets no limit. */
  get #outputLeft(): number | undefined {
    const { max_output_tokens: limit } = this.#request;
    const usedTokens = this.#usage?.['output_tokens'];
    return typeof limit === 'number' ? limit - (typeof usedTokens === 'number' ? usedTokens : 0) : undefined;
  }

  /** Always true, because this format has no tool that fetches an address from the model. */
  namesAddress(): boolean {
    return true;
  }

  answerCall(call: HostedCall, outcome: HostedOutcome): string {
    if (outcome.kind === 'found') this.#searchResults.push(...outcome.results);
    const text = writeOutcomeText(outcome);
    const output = isFailure(outcome) ? `Error: ${text}` : text;
    const openCall = this.#openCalls.find((each) => each.call === call);
    if (!openCall) {
      this.#approvedOutputs.set(call.id, output);
      this.#approvedOutcomes.push({ call, outcome });
      // The answer begins with the model's first event.
      return '';
    }
    this.#openCalls = this.#openCalls.filter((each) => each !== openCall);
    this.#turnItems.push({ type: 'function_call_output', call_id: openCall.callId, output });
    return this.#endItem(openCall.position, outcome);
  }

  finish(): string {
    const message = 'The answer ended before this call.';
    const failedCalls = this.#openCalls.map(({ call }) =>
      this.answerCall(call, { kind: 'failed', reason: 'unavailable', message }),
    );
    const response = this.buildWholeAnswer();
    const status = response['status'] === 'incomplete' ? 'incomplete' : 'completed';
    return [...failedCalls, this.#events.write(`response.${status}`, { response })].join('');
  }

  buildWholeAnswer(): JsonObject {
    const { id, created_at: created } = this.#createdResponse;
    const cutOffFields = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    const last = { ...this.#lastResponse, ...(this.#isCutOff && cutOffFields) };
    const fields = { ...last, ...readRepeatedFields(this.#request), id, created_at: created };
    return { ...fields, output: this.#events.output, usage: this.#usage ?? null };
  }

  get #idPart(): string {
    const { id } = this.#createdResponse;
    return typeof id === 'string' ? id.replace(/^[a-z]+_/, '') : '';
  }

  /** Writes the first events of the answer; '' in later turns. */
  #writeOpening(response: JsonObject): string {
    if (this.#turnCount > 0) return '';
    this.#createdResponse = { id: response['id'], created_at: response['created_at'] };
    const shownResponse = { ...response, ...readRepeatedFields(this.#request) };
    const opening = ['response.created', 'response.in_progress'].map((type) =>
      this.#events.write(type, { response: shownResponse }),
    );
    return [
      ...opening,
      ...this.#writeMcpLists(),
      ...this.#approvedOutcomes.map((each) => this.#writeApprovedItem(each)),
    ].join('');
  }

  /** Writes the list of tools of each MCP server, unless the input already has that list. */
  #writeMcpLists(): string[] {
    const listedServers = new Set(
      this.#input.map((item) => (item.type === 'mcp_list_tools' ? (item as JsonObject)['server_label'] : undefined)),
    );
    return this.#runnable.flatMap(({ hosted, servedTools }) => {
      if (hosted.kind !== 'mcp' || listedServers.has(hosted.label)) return [];
      listedServers.add(hosted.label);
      const tools = servedTools.map(({ nameAtServer, description, inputSchema }) => ({
        name: nameAtServer,
        description,
        input_schema: inputSchema,
        annotations: null,
      }));
      const id = createItemId('mcpl', this.#idPart, this.#events.output.length);
      const item = { id, type: 'mcp_list_tools', server_label: hosted.label ?? '', tools, error: null };
      const position = this.#events.add(item);
      return [
        this.#events.writeItem(position, 'response.output_item.added', { ...item, tools: [] }),
        this.#events.writeEventAt(position, 'response.mcp_list_tools.in_progress'),
        this.#events.writeEventAt(position, 'response.mcp_list_tools.completed'),
        this.#events.writeItem(position, 'response.output_item.done', item),
      ];
    });
  }

  #writeApprovedItem({ call, outcome }: { call: HostedCall; outcome: HostedOutcome }): string {
    const position = this.#events.output.length;
    const id = createItemId('mcp', this.#idPart, position);
    const beginning = beginCall(this.#events, { ...call, id }, JSON.stringify(call.input));
    this.#events.output[position] = { ...this.#events.output[position], approval_request_id: call.id };
    return beginning + this.#endItem(position, outcome);
  }

  #endItem(position: number, outcome: HostedOutcome): string {
    const item = addOutcome(this.#events.output[position] ?? {}, outcome);
    const { type, status } = item as JsonObject & { type: string };
    // The format has no event for a failed search, so only the status of the item shows the failure.
    const eventName = type === 'mcp_call' && status === 'failed' ? `${type}.failed` : `${type}.completed`;
    return (
      this.#events.writeEventAt(position, `response.${eventName}`) +
      this.#events.writeItem(position, 'response.output_item.done', item)
    );
  }
}

/** Whether a field of `include` concerns the model's upstream, and not a hosted tool. */
function isModelField(field: string): boolean {
  return !field.startsWith('web_search_call.');
}

export function createResponsesHostedRequest(request: ResponsesRequest): HostedRequest | undefined {
  const tools = findHostedTools(request);
  if (tools.length === 0) return undefined;
  return {
    tools,
    createRefusal: ({ param, title }, reason) =>
      new RouterError(
        'unsupported_parameter',
        `Unsupported value for '${param}': tools of type '${title}' cannot be run here: ${reason}.`,
        { param },
      ),
    withFunctions: (body, runnable) => {
      const wholeRequest = body as ResponsesRequest;
      const functions = createHostedFunctions(wholeRequest, runnable);
      const { input } = wholeRequest;
      const change = (tools: readonly ResponsesTool[]): ResponsesTool[] => replaceHostedTools(tools, functions);
      const countedFields = {
        tools: change(wholeRequest.tools ?? []),
        ...(Array.isArray(input) && { input: changeAddedTools(input, change) }),
      };
      return Buffer.from(JSON.stringify({ ...wholeRequest, ...countedFields }));
    },
    // The body has passed `parseResponsesRequest`.
    createAnswer: (body, runnable) => new ResponsesHostedAnswer(body as ResponsesRequest, runnable),
  };
}
