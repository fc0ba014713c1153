import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { attributeNames } from '#shared/core/tracing/attribute-names.ts';

describe('the names of attributes', () => {
  it('are all among those of the conventions', () => {
    const known = new Set(
      Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
    );
    expect(Object.values(attributeNames).filter((name) => !known.has(name))).toEqual([]);
  });
});
