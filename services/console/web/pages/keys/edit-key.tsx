import { Modal } from '@mantine/core';
import { useState } from 'react';
import type { Key, KeySettings } from '../../../contract/keys.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { KeyFields, keyInputs } from './key-fields.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

export function EditKey({ editedKey, onClose }: { editedKey: Key | undefined; onClose: () => void }) {
  return (
    <Modal opened={editedKey !== undefined} onClose={onClose} title={`Change ${editedKey?.name ?? ''}`} size="lg">
      {editedKey ? <KeyForm key={editedKey.id} editedKey={editedKey} onClose={onClose} /> : null}
    </Modal>
  );
}

function KeyForm({ editedKey, onClose }: { editedKey: Key; onClose: () => void }) {
  const [settings, setSettings] = useState<KeySettings>(readSettings(editedKey));
  const change = useChange(
    (input: KeyChange) => callApi<Key>('PATCH', `/keys/${encodeURIComponent(editedKey.id)}`, input),
    ['/keys'],
  );
  return (
    <DialogForm
      change={change}
      failure="The key was not changed"
      inputs={keyInputs}
      action="Save"
      onSubmit={() => change.mutate(findChanges(readSettings(editedKey), settings), { onSuccess: onClose })}
      onCancel={onClose}
    >
      <KeyFields value={settings} editedKey={editedKey} error={change.error} onChange={setSettings} />
    </DialogForm>
  );
}

/** A change of a key's settings. Null removes a restriction; an absent field leaves a setting unchanged. */
type KeyChange = { [Name in keyof KeySettings]?: KeySettings[Name] | null };

/** Returns only the settings that differ, because settings that an administrator sends are locked for the owner. */
function findChanges(before: KeySettings, after: KeySettings): KeyChange {
  const names = ['name', 'class', 'expiresAt', 'models', 'tiers', 'tools', 'limits', 'weight'] as const;
  const changedNames = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changedNames.map((name) => [name, after[name] ?? null]));
}

function readSettings({
  name,
  class: priority,
  expiresAt,
  models,
  tiers,
  tools,
  limits,
  weight = 1,
}: Key): KeySettings {
  return {
    name,
    class: priority,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(models === undefined ? {} : { models }),
    ...(tiers === undefined ? {} : { tiers }),
    ...(tools === undefined ? {} : { tools }),
    limits,
    weight,
  };
}
