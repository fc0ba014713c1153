import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

export interface FormField {
  name: string;
  title: string;
  description: string;
  isRequired: boolean;
  /** `json`: there is no input for the schema, so the value is written as JSON. */
  kind: 'text' | 'long-text' | 'number' | 'integer' | 'boolean' | 'choice' | 'texts' | 'json';
  choices: string[];
  minimum: number | undefined;
  maximum: number | undefined;
  /** The text that the input begins with. */
  initial: string;
}

/** A text field has several lines if the text may be longer than this. */
const maxShortText = 200;

/**
 * Returns the form inputs of a tool's schema. Returns undefined if the schema is not a plain object with named fields; the person then
 * writes the whole input as JSON. For a single field of an uncommon type, the person writes JSON into the input of that field.
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
 * Reads a form into the tool's input. Empty optional fields are left out.
 * @throws FieldProblem that names the field
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
