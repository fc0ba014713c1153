import type {
  ResponsesTool,
  ResponsesCustomTool,
  ResponsesFunctionTool,
  ResponsesNamespace,
  ResponsesRequest,
} from '#shared/formats/responses/request.ts';
import { type JsonObject, isJsonObject } from '#shared/core/json.ts';
import { inputArgument } from './input-unwrapper.ts';
import type { ChatToolChoice } from '#shared/formats/chat/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { createHash } from 'node:crypto';

/** A client's tool, with the type and names that calls refer to. */
export interface CalledTool extends JsonObject {
  type: 'function' | 'custom' | 'tool_search';
  name: string;
  namespace?: string;
}

/** The function that replaces one of the client's tools, with a name that every upstream accepts. */
export interface FlatTool {
  name: string;
  description: string | undefined;
  parameters: JsonObject;
  strict: boolean | undefined;
}

/** A tool that runs on the server. No function can replace it. */
export interface ServerTool {
  tool: JsonObject & { type: string };
  /** The path in the request, such as `tools[2]`. */
  param: string;
}

export interface FlatTools {
  tools: FlatTool[];
  /** The client's tools by the names in `tools`. */
  clientTools: ReadonlyMap<string, CalledTool>;
  serverTools: ServerTool[];
  /** Returns the name of the function that replaces a tool, even if the request does not offer the tool. */
  findFlatName: (name: string, namespace?: string | null) => string;
}

const noParameters: JsonObject = { type: 'object', properties: {} };

/** The name by which an upstream calls the client's tool search. */
const toolSearchName = 'tool_search';

/**
 * Collects all tools that a request offers in one list of functions. The tools are in `tools`, in groups (namespaces), and in items of the
 * input. A custom tool becomes a function with one string. If a tool is offered twice, the last definition counts.
 */
export function flattenTools(request: ResponsesRequest): FlatTools {
  const tools = new Map<string, FlatTool>();
  const clientTools = new Map<string, CalledTool>();
  const names = new Map<string, string>();
  const serverTools: ServerTool[] = [];

  for (const [index, tool] of (request.tools ?? []).entries()) add(tool, `tools[${index}]`);
  const items = Array.isArray(request.input) ? request.input : [];
  for (const [index, item] of items.entries()) {
    if (item.type !== 'additional_tools' && item.type !== 'tool_search_output') continue;
    const { tools: furtherTools } = item as { tools?: unknown };
    if (!Array.isArray(furtherTools)) continue;
    for (const [position, tool] of (furtherTools as ResponsesTool[]).entries())
      add(tool, `input[${index}].tools[${position}]`);
  }
  return { tools: [...tools.values()], clientTools, serverTools, findFlatName };

  function add(tool: ResponsesTool, param: string, namespace?: string): void {
    switch (tool.type) {
      case 'function':
        return putTool({ type: 'function', name: (tool as ResponsesFunctionTool).name }, namespace, (name) =>
          flattenFunction(tool as ResponsesFunctionTool, name),
        );
      case 'custom':
        return putTool({ type: 'custom', name: (tool as ResponsesCustomTool).name }, namespace, (name) =>
          flattenCustomTool(tool as ResponsesCustomTool, name),
        );
      case 'namespace': {
        const { name, tools: members } = tool as ResponsesNamespace;
        for (const [index, member] of (members ?? []).entries()) add(member, `${param}.tools[${index}]`, name);
        return undefined;
      }
      case 'tool_search':
        // The client runs this search. Any other search must run on the server.
        if (tool['execution'] !== 'client') break;
        return putTool({ type: 'tool_search', name: toolSearchName }, undefined, (name) =>
          flattenFunction({ ...(tool as JsonObject), type: 'function', name: toolSearchName }, name),
        );
    }
    serverTools.push({ tool, param });
    return undefined;
  }

  function putTool(tool: CalledTool, namespace: string | undefined, flat: (name: string) => FlatTool): void {
    const key = createKey(tool.name, namespace);
    const name = names.get(key) ?? findFreeName(tool.name, namespace);
    names.set(key, name);
    clientTools.set(name, namespace === undefined ? tool : { ...tool, namespace });
    tools.set(name, flat(name));
  }

  function findFreeName(name: string, namespace: string | undefined): string {
    const flat = createFlatToolName(name, namespace);
    return tools.has(flat) ? createDistinctToolName(flat, name, namespace) : flat;
  }

  function findFlatName(name: string, namespace?: string | null): string {
    return names.get(createKey(name, namespace)) ?? createFlatToolName(name, namespace ?? undefined);
  }
}

function createKey(name: string, namespace: string | null | undefined): string {
  return JSON.stringify([namespace ?? '', name]);
}

function flattenFunction({ description, parameters, strict }: ResponsesFunctionTool, name: string): FlatTool {
  const { $schema: _, ...schema }: JsonObject = parameters ?? noParameters;
  return { name, description: description ?? undefined, parameters: schema, strict: strict ?? undefined };
}

/** Creates the function for a custom tool. The description contains the grammar, because a schema cannot enforce it. */
export function flattenCustomTool({ description, format }: ResponsesCustomTool, name: string): FlatTool {
  const { syntax, definition } = format ?? {};
  const grammar =
    typeof definition === 'string'
      ? `The ${inputArgument} follows this grammar (${typeof syntax === 'string' ? syntax : 'text'}):\n${definition}`
      : undefined;
  const parameters = {
    type: 'object',
    properties: { [inputArgument]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
    required: [inputArgument],
    additionalProperties: false,
  };
  const texts = [description, grammar].filter((text) => typeof text === 'string' && text !== '');
  return { name, description: texts.length > 0 ? texts.join('\n\n') : undefined, parameters, strict: undefined };
}

/**
 * Returns the names of the tools that the client's tool search has found, as the search result for the model. The tools themselves are
 * offered together with the tools of the request.
 */
export function describeFoundTools(found: readonly ResponsesTool[]): string {
  const names = flattenTools({ model: '', tools: [...found] }).tools.map(({ name }) => name);
  return names.length === 0 ? 'No tools found.' : `Tools that can be called now: ${names.join(', ')}`;
}

/**
 * Translates the tool choice of a request to the chat format, with the flat names of the tools. A custom tool becomes a function.
 * @throws RouterError `unsupported_parameter` for a choice of tools that run on the server
 */
export function flattenToolChoice(
  choice: ResponsesRequest['tool_choice'],
  { findFlatName }: Pick<FlatTools, 'findFlatName'>,
): ChatToolChoice {
  if (choice === undefined || choice === null) return 'auto';
  if (typeof choice === 'string') return choice as ChatToolChoice;
  if (choice.type !== 'allowed_tools') return toFlatFunction(choice, 'tool_choice', findFlatName);
  const { mode, tools } = choice;
  const allowedTools = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  return {
    type: 'allowed_tools',
    allowed_tools: {
      mode: mode === 'required' ? 'required' : 'auto',
      tools: allowedTools.map((tool, index) => toFlatFunction(tool, `tool_choice.tools[${index}]`, findFlatName)),
    },
  };
}

function toFlatFunction(
  tool: JsonObject,
  param: string,
  findFlatName: FlatTools['findFlatName'],
): JsonObject & { type: 'function' } {
  const { type, name, namespace } = tool;
  if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') {
    throw createUnsupportedChatError(`${param}.type`, `a choice of type ${JSON.stringify(type)}`);
  }
  const flatName = findFlatName(name, typeof namespace === 'string' ? namespace : undefined);
  return { type: 'function', function: { name: flatName } };
}

/** Maximum characters of a tool's name at every upstream. */
const maxNameLength = 64;

/**
 * Creates a name for a tool and its namespace, in the characters and the length that every upstream accepts. The same tool has the same
 * name in every request, so that prompt caches stay valid. Different tools have different names.
 */
function createFlatToolName(name: string, namespace: string | undefined): string {
  const fullName = namespace === undefined || namespace === '' ? name : `${namespace}__${name}`;
  const plainName = fullName.replaceAll(/[^\w-]/g, '_');
  if (plainName === fullName && plainName.length <= maxNameLength && plainName !== '') return plainName;
  return createDistinctToolName(plainName, name, namespace);
}

/** Creates a name with a hash of the whole name, for a tool whose flat name is taken or loses characters. */
export function createDistinctToolName(plainName: string, name: string, namespace: string | undefined): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([namespace ?? '', name]))
    .digest('hex')
    .slice(0, 8);
  return `${plainName.slice(0, maxNameLength - 9)}_${hash}`;
}
