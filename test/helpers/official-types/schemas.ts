import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';
import type { JsonObject } from '#shared/core/json.ts';

/** The names of the types in `bodies.ts`. */
export type BodyType =
  | 'ChatRequest'
  | 'MessagesRequest'
  | 'ResponsesRequest'
  | 'ChatAnswer'
  | 'MessagesAnswer'
  | 'MessagesEvent'
  | 'ResponsesAnswer';

/** A JSON schema with the definitions that it refers to. */
export interface BodySchema {
  root: JsonObject;
  definitions: Record<string, JsonObject>;
}

/** Returns the schema itself, or the one that it refers to. */
export function resolved(schema: BodySchema, of: JsonObject): JsonObject {
  const { $ref: reference } = of;
  if (typeof reference !== 'string') return of;
  return resolved(schema, schema.definitions[decodeURIComponent(reference.replace('#/definitions/', ''))] ?? {});
}

/** Reads the SDKs' types as JSON schemas. Takes some seconds. */
export function readSchemas(): (type: BodyType) => BodySchema {
  const generator = createGenerator({
    path: fileURLToPath(new URL('bodies.ts', import.meta.url)),
    skipTypeCheck: true,
    expose: 'all',
    jsDoc: 'none',
    additionalProperties: false,
  });
  return (type) => {
    const { $ref, definitions } = generator.createSchema(type);
    return { root: { $ref: $ref ?? '' }, definitions: definitions as Record<string, JsonObject> };
  };
}
