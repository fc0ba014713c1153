import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { resolved, type BodySchema } from './schemas.ts';

/** A value that can be changed, to see the effect. */
export class Leaf {
  /** Returns a variant. Variant 0 is the value of the body; others differ from it. */
  readonly make: (variant: number) => Json | undefined;
  /** Returns a text in the value that occurs nowhere else; undefined for words of the format, switches and counts. */
  readonly marker: ((variant: number) => string) | undefined;

  constructor(make: (variant: number) => Json | undefined, marker?: (variant: number) => string) {
    this.make = make;
    this.marker = marker;
  }
}

/** A body with changeable values. */
export type Tree = Leaf | Json | readonly Tree[] | { readonly [field: string]: Tree };

export interface Change {
  leaf: Leaf;
  variant: number | 'absent';
}

/** A body with one field, or member of a union, that no earlier case has. */
export interface Case {
  tree: Tree;
  /** The leaves of that field. */
  focus: Leaf[];
}

/** Values for fields of these names that need a certain shape or range: by variant, with a marker. */
const special: Readonly<Record<string, (marker: string, variant: number) => Json>> = {
  url: (marker) => `https://${marker}.example/a`,
  image_url: (marker) => `https://${marker}.example/a.png`,
  file_url: (marker) => `https://${marker}.example/a.pdf`,
  server_url: (marker) => `https://${marker}.example/mcp`,
  data: (marker) => base64(marker),
  file_data: (marker) => `data:application/pdf;base64,${base64(marker)}`,
  arguments: (marker) => JSON.stringify({ said: marker }),
  input: (marker) => ({ said: marker }),
  parameters: (marker) => schemaWith(marker),
  input_schema: (marker) => schemaWith(marker),
  schema: (marker) => schemaWith(marker),
  temperature: (_, variant) => 0.25 + variant / 4,
  top_p: (_, variant) => 0.25 + variant / 4,
  frequency_penalty: (_, variant) => 0.25 + variant / 4,
  presence_penalty: (_, variant) => 0.25 + variant / 4,
  top_logprobs: (_, variant) => 2 + variant,
  n: (_, variant) => 2 + variant,
  budget_tokens: (_, variant) => 2000 + variant * 3000,
  // More than the counts that it sums up.
  input_tokens: (_, variant) => 50_000 + variant,
  output_tokens: (_, variant) => 50_000 + variant,
  prompt_tokens: (_, variant) => 50_000 + variant,
  completion_tokens: (_, variant) => 50_000 + variant,
  max_tokens: (_, variant) => 20_000 + variant,
  max_completion_tokens: (_, variant) => 20_000 + variant,
  max_output_tokens: (_, variant) => 20_000 + variant,
};

/** Returns the special value of a field, if the schema accepts it. */
function specialFor(field: string, { type, properties, anyOf }: JsonObject): (typeof special)[string] | undefined {
  // The arguments of a search are an object.
  const own = special[field === 'arguments' && type === undefined ? 'input' : field];
  if (!own || properties !== undefined || anyOf !== undefined) return undefined;
  const value = own('m', 0);
  const kinds = typeof value === 'number' ? ['number', 'integer'] : [typeof value];
  return type === undefined || kinds.some((kind) => kind === type) ? own : undefined;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function schemaWith(name: string): JsonObject {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name], additionalProperties: false };
}

/** Creates the cases of one type: each optional field and each member of a union is in one of them, with as little else as possible. */
export class Cases {
  readonly #schema: BodySchema;
  readonly #expanded = new Set<string>();
  #markers = 0;

  constructor(schema: BodySchema) {
    this.#schema = schema;
  }

  /** The names of the fields of the whole type. */
  fields(): string[] {
    return Object.keys(this.#resolve(this.#schema.root)['properties'] as JsonObject);
  }

  /** The cases of each field of the whole type, by its name. */
  byField(): [string, Case[]][] {
    const { properties } = this.#resolve(this.#schema.root);
    return Object.entries(properties as Record<string, JsonObject>).map(([field, each]) => [
      field,
      this.#cases(each, field),
    ]);
  }

  #cases(schema: JsonObject, field: string): Case[] {
    const { $ref: reference } = schema;
    if (typeof reference === 'string') {
      // Each definition is expanded once, where it is met first.
      if (this.#expanded.has(reference)) return [this.#least(schema, field)];
      this.#expanded.add(reference);
      return this.#cases(this.#resolve(schema), field);
    }
    const members = membersOf(schema);
    if (members) return members.flatMap((member) => this.#cases(member, field));
    if (isWords(schema) || specialFor(field, schema) || schema['type'] !== 'object') return this.#plain(schema, field);
    return this.#objects(schema, field);
  }

  /** A case for each property, and for each of its cases. */
  #objects(schema: JsonObject, field: string): Case[] {
    const { properties = {}, additionalProperties: values, required = [] } = schema;
    const isOptional = (name: string): boolean => !(required as string[]).includes(name);
    const base = this.#least(schema, field);
    const cases = Object.entries(properties as Record<string, JsonObject>).flatMap(([name, property]) =>
      this.#cases(property, name).map(({ tree, focus }) => ({
        ...withField(base.tree as Record<string, Tree>, name, tree, focus, isOptional(name)),
      })),
    );
    if (isJsonObject(values)) {
      const key = this.#marker();
      for (const { tree, focus } of this.#cases(values, 'value')) cases.push({ tree: { [key(0)]: tree }, focus });
    }
    return cases.length > 0 ? cases : [base];
  }

  #plain(schema: JsonObject, field: string): Case[] {
    if (schema['type'] === 'array') {
      const items = isJsonObject(schema['items']) ? schema['items'] : {};
      return this.#cases(items, field).map(({ tree, focus }) => ({ tree: [tree], focus }));
    }
    const { tree, focus } = this.#least(schema, field);
    return [{ tree, focus }];
  }

  /** The least value of a schema. Its leaves are the focus. */
  #least(given: JsonObject, field: string): Case {
    const schema = this.#resolve(given);
    const own = specialFor(field, schema);
    if (own) return this.#specialLeaf(own);
    if (schema['const'] !== undefined) return { tree: schema['const'], focus: [] };
    if (Array.isArray(schema['enum'])) {
      const words = schema['enum'];
      return leafCase(new Leaf((variant) => words[variant % words.length] ?? null), words.length > 1);
    }
    const members = membersOf(schema);
    // Plain values rather than objects, which may contain themselves.
    if (members) return this.#least(members.find((each) => each['$ref'] === undefined) ?? members[0] ?? {}, field);
    switch (schema['type']) {
      case 'string': {
        const marker = this.#marker();
        return leafCase(new Leaf(marker, marker));
      }
      case 'number':
      case 'integer': {
        const first = 1000 + this.#markers++ * 10;
        return leafCase(new Leaf((variant) => first + variant));
      }
      case 'boolean':
        return leafCase(new Leaf((variant) => variant % 2 === 0));
      case 'null':
        return { tree: null, focus: [] };
      case 'array': {
        const { tree, focus } = this.#least(isJsonObject(schema['items']) ? schema['items'] : {}, field);
        return { tree: [tree], focus };
      }
      case 'object':
        return this.#leastObject(schema);
      default: {
        const marker = this.#marker();
        return leafCase(new Leaf((variant) => ({ any: marker(variant) }), marker));
      }
    }
  }

  #leastObject({ properties = {}, required }: JsonObject): Case {
    const needed = new Set(Array.isArray(required) ? required : []);
    const fields = Object.entries(properties as Record<string, JsonObject>)
      .filter(([name]) => needed.has(name))
      .map(([name, property]) => [name, this.#least(property, name)] as const);
    return {
      tree: Object.fromEntries(fields.map(([name, { tree }]) => [name, tree])),
      focus: fields.flatMap(([, { focus }]) => focus),
    };
  }

  #specialLeaf(own: (marker: string, variant: number) => Json): Case {
    const marker = this.#marker();
    const make = (variant: number): Json => own(marker(variant), variant);
    const value = JSON.stringify(make(0));
    const hasMarker = value.includes(marker(0)) || value.includes(base64(marker(0)));
    const text = value.includes(marker(0)) ? marker : (variant: number): string => base64(marker(variant));
    return leafCase(hasMarker ? new Leaf(make, text) : new Leaf(make));
  }

  #marker(): (variant: number) => string {
    const name = `m${(this.#markers++).toString().padStart(5, '0')}`;
    return (variant) => `${name}v${variant}`;
  }

  #resolve(schema: JsonObject): JsonObject {
    return resolved(this.#schema, schema);
  }
}

/** Returns an optional field without a leaf as a leaf: it may be absent. */
function withField(base: Record<string, Tree>, name: string, tree: Tree, focus: Leaf[], isOptional: boolean): Case {
  if (focus.length > 0 || !isOptional || tree === null) return { tree: { ...base, [name]: tree }, focus };
  const value = valueOf(tree);
  const leaf = new Leaf((variant) => (variant === 0 ? value : undefined));
  return { tree: { ...base, [name]: leaf }, focus: [leaf] };
}

/** Replaces the leaves of a tree by their values; one of them may be another variant. */
export function valueOf(tree: Tree, changed?: Change): Json {
  if (tree instanceof Leaf) {
    const variant = changed?.leaf === tree ? changed.variant : 0;
    return (variant === 'absent' ? undefined : tree.make(variant)) as Json;
  }
  if (Array.isArray(tree)) return (tree as readonly Tree[]).map((each) => valueOf(each, changed));
  if (tree === null || typeof tree !== 'object') return tree;
  const fields = Object.entries(tree).map(([field, each]) => [field, valueOf(each as Tree, changed)] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Returns the path of a leaf, with `[]` for every element, and the types of the objects that contain it. */
export function placeOf(tree: Tree, leaf: Leaf, path = '', types: string[] = []): Place | undefined {
  if (tree === leaf) return { path, types };
  if (tree instanceof Leaf || tree === null || typeof tree !== 'object') return undefined;
  if (Array.isArray(tree)) return firstOf(tree as readonly Tree[], (each) => placeOf(each, leaf, `${path}[]`, types));
  const fields = tree as Record<string, Tree>;
  const own = ['type', 'role'].flatMap((field) => {
    const value = fields[field] instanceof Leaf ? fields[field].make(0) : fields[field];
    return typeof value === 'string' ? [value] : [];
  });
  return firstOf(Object.entries(fields), ([field, each]) =>
    placeOf(each, leaf, path === '' ? field : `${path}.${field}`, [...types, ...own]),
  );
}

export interface Place {
  path: string;
  types: string[];
}

function firstOf<T, R>(all: readonly T[], find: (each: T) => R | undefined): R | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

function leafCase(leaf: Leaf, changes = true): Case {
  return { tree: leaf, focus: changes ? [leaf] : [] };
}

function isWords(schema: JsonObject): boolean {
  return schema['const'] !== undefined || Array.isArray(schema['enum']);
}

/** Returns the members of a union; several types of one schema count as a union, too. */
function membersOf(schema: JsonObject): JsonObject[] | undefined {
  const union = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(union)) return union.filter(isJsonObject);
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return undefined;
  return type.map((each) => (each === 'null' ? { type: each } : { ...rest, type: each }));
}
