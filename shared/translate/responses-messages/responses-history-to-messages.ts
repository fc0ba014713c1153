import { replaceHostedItemsAt, hasOutcome } from '#shared/formats/responses/hosted/with-function-calls.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
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
import type { ModelTraits } from '../translation.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { toMessagesToolId, parseToolInput } from '../vocabulary/tool-call.ts';
import { restoreThinkingBlock } from '../responses/sealed-thinking.ts';
import { assertTextBlock, simplifyContent, type TranslatedHistory } from '../upstreams/messages/translated-history.ts';
import { MessageTurns } from './message-turns.ts';
import { responsesContentToBlocks } from './responses-content-to-blocks.ts';

/**
 * Translates instructions and input to the system prompt and the messages of a `messages` request. System and developer messages at the
 * beginning become the system prompt; later ones stay in their place.
 * @throws RouterError `unsupported_parameter` that names a part the `messages` format does not have
 */
export function responsesHistoryToMessages(
  { instructions, input }: ResponsesRequest,
  { findFlatName }: Pick<FlatTools, 'findFlatName'>,
  traits: ModelTraits,
): TranslatedHistory {
  const turns = new MessageTurns();
  if (typeof instructions === 'string' && instructions !== '') turns.addSystem([{ type: 'text', text: instructions }]);
  if (typeof input === 'string') turns.addUser(responsesContentToBlocks(input, 'input'));
  else
    for (const [index, item] of replaceHostedItemsAt(input ?? [], undefined, hasOutcome)) add(item, `input[${index}]`);
  return turns.finish();

  function add(item: ResponsesItem, param: string): void {
    switch (item.type) {
      case undefined:
      case null:
      case 'message':
        return addMessage(item as ResponsesMessage, `${param}.content`);
      case 'reasoning': {
        const block = restoreThinkingBlock(item as ResponsesReasoning, traits);
        return turns.addAssistant(block ? [block] : []);
      }
      case 'function_call': {
        const { call_id: id, name, namespace, arguments: text } = item as ResponsesFunctionCall;
        return addCall(id, findFlatName(name, namespace), parseToolInput(text));
      }
      case 'custom_tool_call': {
        const { call_id: id, name, namespace, input: text } = item as ResponsesCustomCall;
        return addCall(id, findFlatName(name, namespace), { [inputArgument]: text });
      }
      case 'tool_search_call': {
        const { call_id: id, arguments: args } = item as ResponsesToolSearchCall;
        if (typeof id !== 'string') return undefined;
        return addCall(id, findFlatName('tool_search'), isJsonObject(args) ? args : {});
      }
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const { call_id: id, output } = item as ResponsesToolOutput;
        const blocks = responsesContentToBlocks(output, `${param}.output`);
        if (typeof id === 'string') return turns.addResult(toMessagesToolId(id), simplifyContent(blocks));
        return turns.addUser([{ type: 'text', text: labelOutput(item as ResponsesToolOutput) }, ...blocks]);
      }
      case 'tool_search_output': {
        const { call_id: id, tools } = item as ResponsesToolSearchOutput;
        if (typeof id !== 'string') return undefined;
        return turns.addResult(toMessagesToolId(id), describeFoundTools(tools ?? []));
      }
      case 'additional_tools':
        return undefined;
      default:
        if (isHostedCall(item.type)) return undefined;
        throw createUnsupportedChatError(`${param}.type`, `items of type '${item.type}'`);
    }
  }

  function addMessage({ role, content }: ResponsesMessage, param: string): void {
    const blocks = responsesContentToBlocks(content, param);
    switch (role) {
      case 'system':
      case 'developer':
        return turns.addSystem(blocks.map((block) => assertTextBlock(block, param)));
      case 'user':
        return turns.addUser(blocks);
      case 'assistant':
        return turns.addAssistant(blocks);
    }
  }

  function addCall(id: string, name: string, input: JsonObject): void {
    turns.addCall({ type: 'tool_use', id: toMessagesToolId(id), name, input });
  }
}
