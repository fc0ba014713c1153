import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { RunnableTool, ServedTool } from '../../hosted/hosted-request.ts';
import { searchDescription } from '../../hosted/hosted-outcome.ts';
import type { ResponsesRequest, ResponsesTool } from '../request.ts';
import { listRequestTools } from './request-tools.ts';

export const searchFunctionName = 'web_search';

/** The function through which a model calls a hosted tool, or one tool of an MCP server. */
export interface HostedFunction {
  name: string;
  hosted: RunnableTool['hosted'];
  servedTool: ServedTool;
  /** The tool of the request that the function stands for. */
  tool: JsonObject;
}

const maxNameLength = 64;

export function toMcpFunctionName(label: string, name: string): string {
  return `mcp_${label}_${name}`.replaceAll(/[^\w-]/g, '_').slice(0, maxNameLength);
}

/**
 * Creates the functions for the hosted tools of a request. Different tools get different names. A tool that an input item lists again keeps
 * its name.
 */
export function createHostedFunctions(request: ResponsesRequest, runnable: readonly RunnableTool[]): HostedFunction[] {
  const requestTools = listRequestTools(request);
  const usedNames = new Set(requestTools.map(({ tool }) => (tool as JsonObject)['name']));
  const names = new Map<string, string>();
  return runnable.flatMap(({ hosted, servedTools }) =>
    servedTools.map((servedTool): HostedFunction => {
      const key = JSON.stringify([hosted.kind, hosted.label, servedTool.name]);
      const preferredName =
        hosted.kind === 'mcp' ? toMcpFunctionName(hosted.label ?? '', servedTool.nameAtServer) : searchFunctionName;
      let name = names.get(key) ?? preferredName;
      for (let copy = 2; !names.has(key) && usedNames.has(name); copy++)
        name = `${preferredName.slice(0, maxNameLength - 4)}_${copy}`;
      usedNames.add(name);
      names.set(key, name);
      return {
        name,
        hosted,
        servedTool,
        tool: requestTools.find(({ param }) => hosted.param.startsWith(`${param}.`))?.tool ?? {},
      };
    }),
  );
}

/** Replaces the tools that the router runs with functions. */
export function replaceHostedTools(
  tools: readonly ResponsesTool[],
  functions: readonly HostedFunction[],
): ResponsesTool[] {
  return tools.flatMap((tool) => {
    const toolFunctions = functions.filter((each) => each.tool === tool).map(toFunctionTool);
    // An MCP server may have none of the tools that the request allows.
    return toolFunctions.length > 0 || tool.type === 'mcp' ? toolFunctions : [tool];
  });
}

/** Removes the tools that the router runs. */
export function removeHostedTools(
  tools: readonly ResponsesTool[],
  functions: readonly HostedFunction[],
): ResponsesTool[] {
  return tools.filter((tool) => tool.type !== 'mcp' && !functions.some((each) => each.tool === tool));
}

/** Replaces hosted tools in a tool choice with their functions. */
export function replaceHostedChoice(choice: Json | undefined, functions: readonly HostedFunction[]): Json | undefined {
  if (!isJsonObject(choice)) return choice;
  if (choice['type'] === 'allowed_tools' && Array.isArray(choice['tools'])) {
    return { ...choice, tools: choice['tools'].flatMap((each) => findFunctionChoices(each, functions)) };
  }
  const [first, ...others] = findFunctionChoices(choice, functions);
  return others.length === 0 ? first : 'required';
}

function findFunctionChoices(choice: Json, functions: readonly HostedFunction[]): Json[] {
  if (!isJsonObject(choice)) return [choice];
  const { type, server_label: label, name } = choice;
  const chosenFunctions = functions.filter(({ hosted, servedTool }) =>
    hosted.kind === 'mcp'
      ? type === 'mcp' && label === hosted.label && (typeof name !== 'string' || name === servedTool.nameAtServer)
      : typeof type === 'string' && type.startsWith(searchFunctionName),
  );
  return chosenFunctions.length === 0
    ? [choice]
    : chosenFunctions.map((each) => ({ type: 'function', name: each.name }));
}

function toFunctionTool({ name, hosted, servedTool }: HostedFunction): ResponsesTool {
  if (hosted.kind === 'mcp') {
    return {
      type: 'function',
      name,
      description: servedTool.description,
      parameters: servedTool.inputSchema,
      strict: false,
    };
  }
  const parameters = {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to search for.' } },
    required: ['query'],
  };
  return { type: 'function', name, description: searchDescription, parameters, strict: false };
}
