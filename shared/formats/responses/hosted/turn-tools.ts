import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ResponsesItem, ResponsesRequest } from '../request.ts';
import { replaceHostedChoice, replaceHostedTools, removeHostedTools, type HostedFunction } from './hosted-functions.ts';
import { listRequestTools, changeAddedTools } from './request-tools.ts';

export interface TurnToolsOptions {
  request: ResponsesRequest;
  input: readonly ResponsesItem[];
  functions: readonly HostedFunction[];
  isFirst: boolean;
  /** Whether to withhold the hosted tools from the model. */
  isLast: boolean;
}

/**
 * Returns the tool fields of a turn, with functions in place of the hosted tools. In the last turn, the model gets only the client's tools.
 * If the client has no tools, the tool choice is `none`, and the functions stay, because earlier turns have called them.
 */
export function createToolFields(options: TurnToolsOptions): JsonObject {
  const { request, input, functions, isLast } = options;
  const choice = chooseToolChoice(options);
  const changeTools = (change: typeof replaceHostedTools): Required<Pick<ResponsesRequest, 'input' | 'tools'>> => ({
    input: changeAddedTools(input, (tools) => change(tools, functions)),
    tools: change(request.tools ?? [], functions),
  });
  if (!isLast) return { ...changeTools(replaceHostedTools), tool_choice: choice };
  const clientTools = changeTools(removeHostedTools);
  if (listRequestTools(clientTools).length === 0) return { ...changeTools(replaceHostedTools), tool_choice: 'none' };
  return { ...clientTools, tool_choice: removeFunctions(choice, functions) };
}

/**
 * Returns the tool choice of a turn. A choice that requires a call applies only to the first turn. In later turns, the model could
 * otherwise never answer.
 */
function chooseToolChoice({ request, functions, isFirst }: TurnToolsOptions): Json | undefined {
  const requestChoice = replaceHostedChoice(request.tool_choice, functions);
  if (isFirst) return requestChoice;
  if (isJsonObject(requestChoice) && requestChoice['type'] === 'allowed_tools')
    return { ...requestChoice, mode: 'auto' };
  return requestChoice === 'none' ? requestChoice : 'auto';
}

/** Removes functions from a list of allowed tools, because the list may name only tools of the request. */
function removeFunctions(choice: Json | undefined, functions: readonly HostedFunction[]): Json | undefined {
  if (!isJsonObject(choice) || !Array.isArray(choice['tools'])) return choice;
  const names = new Set<unknown>(functions.map(({ name }) => name));
  const tools = choice['tools'].filter((tool) => !(isJsonObject(tool) && names.has(tool['name'])));
  return tools.length === 0 ? 'none' : { ...choice, tools };
}
