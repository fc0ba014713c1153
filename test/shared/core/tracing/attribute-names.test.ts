import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { attributeNames } from '#shared/core/tracing/attribute-names.ts';

describe('attribute names', () => {
  it('are all defined by the conventions', () => {
    const known = new Set(
      Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
    );
    expect(Object.values(attributeNames).filter((name) => !known.has(name))).toEqual([]);
  });
});
