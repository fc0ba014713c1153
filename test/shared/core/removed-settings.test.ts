import { expect, it } from 'vitest';
import { ConfigError } from '#shared/core/load-config.ts';
import { refuseRemovedSettings, removedSettings } from '#shared/core/removed-settings.ts';
import { allSettings } from '../../docs/tables/render-settings.ts';

it('each removed setting that is set, or its file, is refused with a sentence', () => {
  const refuse = () => refuseRemovedSettings({ SPILL_MS: '100', MAX_HELD_BYTES_FILE: '/run/bytes', PORT: '1' });
  expect(refuse).toThrow(ConfigError);
  expect(refuse).toThrow(
    'MAX_HELD_BYTES is no longer a setting: bodies take a quarter of the memory limit, and at most 1 GiB\n' +
      'SPILL_MS is no longer a setting: a request also enters the next lane after 500 ms',
  );
});

it('removed settings that are unset or empty are not refused', () => {
  expect(() => refuseRemovedSettings({ SPILL_MS: '', PORT: '1' })).not.toThrow();
});

it('no removed setting is a setting, and what stands in the place of one is', () => {
  expect(Object.keys(removedSettings).filter((name) => allSettings.has(name))).toEqual([]);
  const named = Object.values(removedSettings).flatMap((sentence) => sentence.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? []);
  expect(named.filter((name) => !allSettings.has(name))).toEqual([]);
});

it('there are at most 87 settings', () => {
  expect(allSettings.size).toBeLessThanOrEqual(87);
});
