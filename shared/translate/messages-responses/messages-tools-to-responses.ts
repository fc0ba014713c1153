import type { JsonObject } from '#shared/core/json.ts';
import { describeClientTool } from '#shared/formats/messages/client-tools.ts';
import type { MessagesRequest, MessagesTool, MessagesToolChoice } from '#shared/formats/messages/request.ts';
import type { ResponsesFunctionTool } from '#shared/formats/responses/request.ts';
import { resolveOfferedTools } from '../context/offered-tools.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';

/**
 * Translates the offered tools and the tool choice of a `messages` request to the Responses format. Omits the fields for caching.
 * @throws RouterError `unsupported_parameter` for tools that run on the upstream
 */
export function messagesToolsToResponses(request: MessagesRequest): JsonObject {
  const { tool_choice: choice } = request;
  const tools = resolveOfferedTools(request);
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => toFunctionTool(tool, request.tools?.indexOf(tool) ?? 0)),
    ...(choice && { tool_choice: translateChoice(choice) }),
    ...(choice?.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  };
}

function toFunctionTool(tool: MessagesTool, index: number): ResponsesFunctionTool {
  const { type, name, description, input_schema: schema, strict } = describeClientTool(tool);
  if (type !== undefined && type !== null && type !== 'custom') {
    throw createUnsupportedMessagesError(`tools.${index}.type`, `tools of type '${type}', which run on the upstream`);
  }
  const { $schema: _, ...parameters }: JsonObject = schema ?? { type: 'object', properties: {} };
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    parameters,
    // Without this field, the Responses format is strict, but the `messages` format is not.
    strict: strict === true,
  };
}

function translateChoice(choice: MessagesToolChoice): string | JsonObject {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'any':
      return 'required';
    case 'tool':
      return { type: 'function', name: choice.name };
  }
}
