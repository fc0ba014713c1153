import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ResponsesItem, ResponsesRequest } from '../request.ts';
import {
  choiceWithFunctions,
  toolsWithFunctions,
  toolsWithoutHosted,
  type HostedFunction,
} from './hosted-functions.ts';
import { offeredTools, withTools } from './offered-tools.ts';

export interface TurnToolsParts {
  request: ResponsesRequest;
  /** The input of the turn. */
  input: readonly ResponsesItem[];
  functions: readonly HostedFunction[];
  isFirst: boolean;
  /** Whether the model may call no function any more. */
  isLast: boolean;
}

/**
 * The fields of a turn about its tools: functions stand for the hosted ones. At the last turn, the model has the client's tools only;
 * if there are none, the functions stay for the calls of earlier turns, and none may be chosen.
 */
export function turnTools(parts: TurnToolsParts): JsonObject {
  const { request, input, functions, isLast } = parts;
  const choice = choiceOf(parts);
  const offer = (change: typeof toolsWithFunctions): Required<Pick<ResponsesRequest, 'input' | 'tools'>> => ({
    input: withTools(input, (tools) => change(tools, functions)),
    tools: change(request.tools ?? [], functions),
  });
  if (!isLast) return { ...offer(toolsWithFunctions), tool_choice: choice };
  const own = offer(toolsWithoutHosted);
  if (offeredTools(own).length === 0) return { ...offer(toolsWithFunctions), tool_choice: 'none' };
  return { ...own, tool_choice: withoutFunctions(choice, functions) };
}

/** A choice that requires a call holds for the first turn: kept, it would never let the model answer. */
function choiceOf({ request, functions, isFirst }: TurnToolsParts): Json | undefined {
  const chosen = choiceWithFunctions(request.tool_choice, functions);
  if (isFirst) return chosen;
  if (isJsonObject(chosen) && chosen['type'] === 'allowed_tools') return { ...chosen, mode: 'auto' };
  return chosen === 'none' ? chosen : 'auto';
}

/** A list of allowed tools has no others than those that are offered. */
function withoutFunctions(choice: Json | undefined, functions: readonly HostedFunction[]): Json | undefined {
  if (!isJsonObject(choice) || !Array.isArray(choice['tools'])) return choice;
  const names = new Set<unknown>(functions.map(({ name }) => name));
  const tools = choice['tools'].filter((tool) => !(isJsonObject(tool) && names.has(tool['name'])));
  return tools.length === 0 ? 'none' : { ...choice, tools };
}
