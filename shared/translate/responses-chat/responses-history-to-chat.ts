import { replaceHostedItemsAt, hasOutcome } from '#shared/formats/responses/hosted/with-function-calls.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject } from '#shared/core/json.ts';
import type { ChatMessage, ChatPart } from '#shared/formats/chat/request.ts';
import type {
  ResponsesCustomCall,
  ResponsesFunctionCall,
  ResponsesItem,
  ResponsesMessage,
  ResponsesReasoning,
  ResponsesRequest,
  ResponsesToolOutput,
  ResponsesToolSearchCall,
  ResponsesToolSearchOutput,
} from '#shared/formats/responses/request.ts';
import { describeFoundTools, type FlatTools } from '../responses/flatten-tools.ts';
import { inputArgument } from '../responses/input-unwrapper.ts';
import { labelOutput, isHostedCall } from '../responses/refuse-server-tools.ts';
import { readReasoning } from '../responses/sealed-thinking.ts';
import type { ModelTraits } from '../translation.ts';
import { readReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { ChatHistory } from './chat-history.ts';
import { partToChat } from './part-to-chat.ts';

/**
 * Translates instructions and input to the messages of a chat request.
 * @throws RouterError `unsupported_parameter` that names a part the chat format does not have; `invalid_request` for an output if the input
 * does not contain its call
 */
export function responsesHistoryToChat(
  { instructions, input }: ResponsesRequest,
  { findFlatName }: Pick<FlatTools, 'findFlatName'>,
  traits: ModelTraits,
): ChatMessage[] {
  const history = new ChatHistory();
  history.addInstructions(toParts(instructions ?? '', 'instructions'));
  if (typeof input === 'string') history.addUser(toParts(input, 'input'));
  else
    for (const [index, item] of replaceHostedItemsAt(input ?? [], undefined, hasOutcome)) add(item, `input[${index}]`);
  return history.finish();

  function add(item: ResponsesItem, param: string): void {
    switch (item.type) {
      case undefined:
      case null:
      case 'message':
        return addMessage(item as ResponsesMessage, `${param}.content`);
      case 'reasoning':
        return addReasoning(item as ResponsesReasoning);
      case 'function_call': {
        const { call_id: id, name, namespace, arguments: json } = item as ResponsesFunctionCall;
        return history.addCall(id, findFlatName(name, namespace), json);
      }
      case 'custom_tool_call': {
        const { call_id: id, name, namespace, input: text } = item as ResponsesCustomCall;
        return history.addCall(id, findFlatName(name, namespace), JSON.stringify({ [inputArgument]: text }));
      }
      case 'tool_search_call': {
        const { call_id: id, arguments: args } = item as ResponsesToolSearchCall;
        if (typeof id !== 'string') return undefined;
        return history.addCall(id, findFlatName('tool_search'), JSON.stringify(isJsonObject(args) ? args : {}));
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const { call_id: id, output } = item as ResponsesToolOutput;
        const parts = toParts(output, `${param}.output`);
        if (typeof id === 'string') return addResult(id, parts, param);
        return history.addUser([{ type: 'text', text: labelOutput(item as ResponsesToolOutput) }, ...parts]);
      }
      case 'tool_search_output': {
        const { call_id: id, tools } = item as ResponsesToolSearchOutput;
        if (typeof id !== 'string') return undefined;
        return addResult(id, toParts(describeFoundTools(tools ?? []), param), param);
      }
      case 'additional_tools':
        return undefined;
      default:
        if (isHostedCall(item.type)) return undefined;
        throw createUnsupportedChatError(`${param}.type`, `items of type '${item.type}'`);
    }
  }

  function addReasoning(item: ResponsesReasoning): void {
    const { text, sealed } = readReasoning(item, traits.unseal);
    history.addThought(text);
    const isFromSameModel = sealed?.['model'] === traits.model && sealed['origin'] === traits.origin;
    const returned = isFromSameModel ? readReturnedReasoning(sealed['returned']) : undefined;
    if (returned) history.addReturned(returned);
  }

  function addMessage({ role, content }: ResponsesMessage, param: string): void {
    const parts = toParts(content, param);
    switch (role) {
      case 'system':
      case 'developer':
        if (parts.some(({ type }) => type !== 'text')) {
          throw createUnsupportedChatError(param, 'anything but text in a system message');
        }
        return history.addInstructions(parts);
      case 'user':
        return history.addUser(parts);
      case 'assistant':
        return history.addText(parts);
    }
  }

  function addResult(id: string, parts: ChatPart[], param: string): void {
    if (!history.hasCall(id)) {
      const path = `${param}.call_id`;
      const message = `Invalid value for '${path}': no item before it is a call with this id.`;
      throw new RouterError('invalid_request', message, { param: path });
    }
    history.addResult(id, parts);
  }

  function toParts(content: ResponsesMessage['content'], param: string): ChatPart[] {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    return content.map((part, index) => partToChat(part, `${param}[${index}]`, traits));
  }
}
