import type { Json, JsonObject } from '#shared/core/json.ts';
import type { MessagesTool } from './request.ts';

/**
 * The tools that Anthropic defines and the client runs (Anthropic API reference, "Tool use"). Anthropic's models recognize these types.
 * Other models need a description and a schema. The number at the end of a type is a date.
 */
const clientToolKinds: readonly {
  type: RegExp;
  describe: (tool: MessagesTool) => { description: string; input_schema: JsonObject };
}[] = [
  {
    type: /^bash_\d+$/,
    describe: () => ({
      description: 'Runs a command in a bash session that stays open between calls, and returns its output.',
      input_schema: createObjectSchema({
        command: createTextSchema('The command. Required unless the session is restarted.'),
        restart: { type: 'boolean', description: 'Whether to restart the session instead.' },
      }),
    }),
  },
  {
    type: /^text_editor_\d+$/,
    describe: ({ type }) => ({
      description:
        'Views, creates and edits text files. `view` shows a file with line numbers, or a folder; `create` writes a file; ' +
        '`str_replace` replaces a text that occurs exactly once; `insert` adds text after a line.',
      input_schema: createObjectSchema(
        {
          // Only the first two versions of the tool can undo a change.
          command: createEnumSchema([...editCommands, ...(/_2024|_20250124/.test(type ?? '') ? ['undo_edit'] : [])]),
          ...editFields,
        },
        ['command', 'path'],
      ),
    }),
  },
  {
    type: /^memory_\d+$/,
    describe: () => ({
      description:
        'Keeps files below `/memories` between conversations. Look at what is there before a task, and note what will be ' +
        'of use later. `delete` and `rename` also take folders.',
      input_schema: createObjectSchema(
        {
          command: createEnumSchema([...editCommands, 'delete', 'rename']),
          ...editFields,
          old_path: createTextSchema('The path to rename.'),
          new_path: createTextSchema('The new path.'),
        },
        ['command'],
      ),
    }),
  },
  {
    type: /^computer_\d+$/,
    describe: (tool) => ({
      description: `Uses the mouse and keyboard of a computer, and takes screenshots. The screen has ${describeScreen(tool)}.`,
      input_schema: createObjectSchema(
        {
          action: createEnumSchema(actions),
          coordinate: createPairSchema('Where on the screen: x and y in pixels.'),
          start_coordinate: createPairSchema('Where a drag starts: x and y in pixels.'),
          text: createTextSchema('What to type, or the key to press, such as `ctrl+s`.'),
          scroll_direction: createEnumSchema(['up', 'down', 'left', 'right']),
          scroll_amount: { type: 'integer', minimum: 0 },
          duration: { type: 'number', description: 'Seconds to wait or to hold a key.' },
          region: { type: 'array', items: { type: 'integer' }, description: 'What to zoom in on: x0, y0, x1 and y1.' },
        },
        ['action'],
      ),
    }),
  },
];

const editCommands = ['view', 'create', 'str_replace', 'insert'];

const editFields: JsonObject = {
  path: createTextSchema('The path of the file or folder.'),
  file_text: createTextSchema('The content of a created file.'),
  old_str: createTextSchema('The text to replace.'),
  new_str: createTextSchema('The new text.'),
  insert_line: { type: 'integer', description: 'The line after which to insert; 0 for the beginning.' },
  insert_text: createTextSchema('The text to insert.'),
  view_range: {
    type: 'array',
    items: { type: 'integer' },
    description: 'The first and last line to view; -1 for the end.',
  },
};

const actions = [
  'screenshot',
  'key',
  'type',
  'mouse_move',
  'left_click',
  'left_click_drag',
  'right_click',
  'middle_click',
  'double_click',
  'triple_click',
  'left_mouse_down',
  'left_mouse_up',
  'scroll',
  'hold_key',
  'wait',
  'cursor_position',
  'zoom',
];

/** Whether Anthropic defines the tool and the client runs it. */
export function isClientTool({ type }: MessagesTool): boolean {
  return typeof type === 'string' && clientToolKinds.some((kind) => kind.type.test(type));
}

/** Returns a client tool with a description and a schema, for models of other vendors. Returns any other tool unchanged. */
export function describeClientTool(tool: MessagesTool): MessagesTool {
  const { type, name } = tool;
  const kind = typeof type === 'string' ? clientToolKinds.find((each) => each.type.test(type)) : undefined;
  return kind ? { type: 'custom', name, ...kind.describe(tool) } : tool;
}

function createObjectSchema(properties: JsonObject, required: string[] = []): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function createTextSchema(description: string): JsonObject {
  return { type: 'string', description };
}

function createEnumSchema(values: string[]): JsonObject {
  return { type: 'string', enum: values };
}

function createPairSchema(description: string): JsonObject {
  return { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2, description };
}

function describeScreen({ display_width_px: width, display_height_px: height }: MessagesTool): string {
  const isNumber = (value: Json | undefined): value is number => typeof value === 'number';
  return isNumber(width) && isNumber(height) ? `${width} x ${height} pixels` : 'an unknown size';
}
