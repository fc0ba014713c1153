import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The read fields of a JSON schema. */
interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  enum?: readonly string[];
  required?: string[];
  definitions?: Record<string, Schema>;
  anyOf?: Schema[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface CustomResourceDefinition {
  spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
}

/** The file of an object's schema in the folder that `writeKubernetesSchemas` fills, for kubeconform. */
export const schemaPath = '{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json';

const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const textOrNumber: Schema = { anyOf: [{ type: 'string' }, { type: 'number' }] };

/**
 * Writes a JSON schema for every kind of object in Kubernetes' OpenAPI description and the CRDs. The schemas are strict: an unknown
 * field is an error, because the API server would drop it with a warning.
 * @param tools the folder that get-kubernetes-tools.sh fills
 */
export function writeKubernetesSchemas(tools: string, folder: string): void {
  const { definitions } = JSON.parse(readFileSync(join(tools, 'kubernetes.json'), 'utf8')) as {
    definitions: Record<string, Schema>;
  };
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, name === quantity ? textOrNumber : strictly(schema)]),
  );
  const write = (group: string, version: string, kind: string, schema: Schema): void => {
    const apiVersion = { type: 'string', enum: [group === '' ? version : `${group}/${version}`] };
    const properties = { ...schema.properties, apiVersion, kind: { type: 'string', enum: [kind] } };
    const required = [...new Set([...(schema.required ?? []), 'apiVersion', 'kind', 'metadata'])];
    const whole = { ...schema, properties, required };
    // For kubeconform, a kind without a group has its version in place of the group.
    const file = join(folder, `${group || version}_${version}_${kind.toLowerCase()}.json`);
    writeFileSync(file, JSON.stringify({ ...whole, definitions: reachable(whole, strict) }));
  };
  for (const [name, schema] of Object.entries(strict)) {
    const known = definitions[name]?.['x-kubernetes-group-version-kind'] ?? [];
    // A definition of many kinds is the option of a call, not an object.
    if (known.length === 1) for (const { group, version, kind } of known) write(group, version, kind, schema);
  }
  for (const file of globSync(join(tools, 'crds', '*.yaml'))) {
    const { spec } = parse(readFileSync(file, 'utf8')) as CustomResourceDefinition;
    for (const { name, schema } of spec.versions) {
      const described = strictly(schema.openAPIV3Schema);
      const properties = { ...described.properties, metadata: { $ref: `#/definitions/${objectMeta}` } };
      write(spec.group, name, spec.names.kind, { ...described, properties });
    }
  }
}

function strictly(schema: Schema): Schema {
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string']) return textOrNumber;
  const { properties, items, additionalProperties } = schema;
  const open = additionalProperties !== undefined || schema['x-kubernetes-preserve-unknown-fields'];
  return {
    ...schema,
    ...(items ? { items: strictly(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: strictly(additionalProperties) } : {}),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, strictly(each)])) }
      : {}),
    ...(properties && !open ? { additionalProperties: false } : {}),
  };
}

/** The definitions that a schema references. */
function reachable(schema: Schema, all: Record<string, Schema>): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  const queue: unknown[] = [schema];
  while (queue.length > 0) {
    const next = queue.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, value] of Object.entries(next)) {
      if (name !== '$ref' || typeof value !== 'string') {
        queue.push(value);
        continue;
      }
      const target = value.replace('#/definitions/', '');
      const definition = all[target];
      if (!definition || target in found) continue;
      found[target] = definition;
      queue.push(definition);
    }
  }
  return found;
}
