import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

export interface FormField {
  name: string;
  title: string;
  description: string;
  isRequired: boolean;
  /** `texts`: a list of texts. `json`: the person writes the value as JSON, because no other input fits the schema. */
  kind: 'text' | 'long-text' | 'number' | 'integer' | 'boolean' | 'choice' | 'texts' | 'json';
  choices: string[];
  minimum: number | undefined;
  maximum: number | undefined;
  /** The text in the input before the person changes it. */
  initial: string;
}

/** A text that may be longer than this many characters has an input with several lines. */
const maxShortText = 200;

/**
 * Returns a form field for each property in the schema of a tool's input. Returns undefined if the schema is not a plain object with named
 * properties; the person then writes the whole input as JSON.
 */
export function readFormFields(schema: JsonObject): FormField[] | undefined {
  const { properties } = schema;
  const isCombined = ['oneOf', 'anyOf', 'allOf', '$ref'].some((word) => word in schema);
  if (isCombined || (schema['type'] !== undefined && schema['type'] !== 'object')) return undefined;
  if (properties === undefined) return [];
  if (!isJsonObject(properties)) return undefined;
  const requiredNames = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, field]) =>
    toField(name, isJsonObject(field) ? field : {}, requiredNames.includes(name)),
  );
}

function toField(name: string, schema: JsonObject, isRequired: boolean): FormField {
  const initial = schema['default'];
  return {
    name,
    title: typeof schema['title'] === 'string' ? schema['title'] : name,
    description: typeof schema['description'] === 'string' ? schema['description'] : '',
    isRequired,
    ...readKind(schema),
    minimum: readNumber(schema['minimum']),
    maximum: readNumber(schema['maximum']),
    initial: initial === undefined ? '' : typeof initial === 'string' ? initial : JSON.stringify(initial),
  };
}

function readKind(schema: JsonObject): Pick<FormField, 'kind' | 'choices'> {
  const { type, enum: choices, items } = schema;
  if (Array.isArray(choices) && choices.every((choice) => typeof choice === 'string'))
    return { kind: 'choice', choices };
  switch (type) {
    case 'string':
      return { kind: Number(schema['maxLength'] ?? 0) > maxShortText ? 'long-text' : 'text', choices: [] };
    case 'number':
    case 'integer':
    case 'boolean':
      return { kind: type, choices: [] };
    case 'array':
      return {
        kind: isJsonObject(items) && items['type'] === 'string' && !items['enum'] ? 'texts' : 'json',
        choices: [],
      };
    default:
      return { kind: 'json', choices: [] };
  }
}

/**
 * Builds the tool's input from the typed texts. Leaves out empty optional fields.
 * @param typedTexts the texts by field name; a field without an entry keeps its initial text
 * @throws FieldProblem that names the first invalid field
 */
export function readForm(fields: readonly FormField[], typedTexts: Readonly<Record<string, string>>): JsonObject {
  const input: JsonObject = {};
  for (const field of fields) {
    const text = typedTexts[field.name] ?? field.initial;
    if (text === '' && field.kind !== 'boolean') {
      if (field.isRequired && field.kind !== 'text' && field.kind !== 'long-text')
        throw new FieldProblem(field.name, 'This is required.');
      if (!field.isRequired) continue;
    }
    const value = readValue(field, text);
    if (value !== undefined) input[field.name] = value;
  }
  return input;
}

export class FieldProblem extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

function readValue({ name, kind, isRequired }: FormField, text: string): Json | undefined {
  switch (kind) {
    case 'number':
    case 'integer': {
      const value = Number(text);
      if (!Number.isFinite(value)) throw new FieldProblem(name, 'This is not a number.');
      if (kind === 'integer' && !Number.isInteger(value)) throw new FieldProblem(name, 'This is not a whole number.');
      return value;
    }
    case 'boolean':
      return text === '' && !isRequired ? undefined : text === 'true';
    case 'texts':
      return text.split('\n').filter((line) => line !== '');
    case 'json':
      return parseField(name, text);
    default:
      return text;
  }
}

function parseField(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) throw new FieldProblem(name, `This is not JSON: ${error.message}`);
    throw error;
  }
}

function readNumber(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
