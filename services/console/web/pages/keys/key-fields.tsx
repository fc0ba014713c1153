import { tiers } from '#shared/core/tier.ts';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { Fieldset, MultiSelect, Select, TagsInput, Text, TextInput } from '@mantine/core';
import type { Key, KeySettings } from '../../../contract/keys.ts';
import type { ServedModel } from '../../../contract/live.ts';
import type { ApiFailure } from '../../api/call-api.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { toInputDate, findEndOfDay } from '../../parts/dates.ts';
import { describeCeiling } from '../../parts/ceiling-fields.tsx';
import { LimitsFields } from '../../parts/limits-fields.tsx';
import { tierNames } from '../../parts/tier-mark.tsx';
import { WeightField } from '../../parts/number-field.tsx';
import { useTools, type ListedTool } from '../tools/run-tool.ts';

export interface KeyFieldsProps {
  value: KeySettings;
  /** The key that is changed; absent for a new key. */
  editedKey?: Pick<Key, 'adminSet' | 'ceiling' | 'classInForce'>;
  error: ApiFailure | null;
  onChange: (settings: KeySettings) => void;
}

/** The contract's names for the inputs that show their own problem. */
export const keyInputs = ['name', 'expiresAt', 'class', 'models', 'tiers', 'tools'] as const;

const classLabels: Record<PriorityClass, string> = {
  high: 'High: served before others',
  normal: 'Normal',
  low: 'Low: served after others',
};

export function KeyFields({ value, editedKey = {}, error, onChange }: KeyFieldsProps) {
  const { adminSet = [], ceiling, classInForce } = editedKey;
  const isAdmin = useIsAdmin();
  const models = useApi<ServedModel[]>('/models');
  const tools = useTools();
  const changeSettings = (change: Partial<KeySettings>): void => onChange({ ...value, ...change });
  const allowedClasses = priorityClasses.filter(
    (name) => name !== 'high' || isAdmin || value.class === 'high' || ceiling?.maxClass === 'high',
  );
  const isSetByAdmin = (field: string): boolean => !isAdmin && adminSet.includes(field);
  const describeField = (field: string, text: string): string =>
    isSetByAdmin(field) ? 'Set by an administrator' : text;
  return (
    <>
      <TextInput
        label="Name"
        description="For instance the machine that uses the key"
        required
        maxLength={100}
        data-autofocus
        value={value.name}
        error={error?.findProblem('name')}
        onChange={({ currentTarget }) => changeSettings({ name: currentTarget.value })}
      />
      <TextInput
        label="Expires"
        description={describeField('expiresAt', 'Empty: never')}
        disabled={isSetByAdmin('expiresAt')}
        type="date"
        min={toInputDate(Date.now() + 86_400_000)}
        value={value.expiresAt === undefined ? '' : toInputDate(value.expiresAt)}
        error={error?.findProblem('expiresAt')}
        onChange={({ currentTarget }) => {
          const { expiresAt: _, ...others } = value;
          const expiresAt = findEndOfDay(currentTarget.value);
          onChange(expiresAt === undefined ? others : { ...others, expiresAt });
        }}
      />
      <Select
        label="Priority"
        description={describeField('class', classInForce === undefined ? '' : `In force: ${classInForce}`) || undefined}
        disabled={isSetByAdmin('class')}
        data={allowedClasses.map((name) => ({ value: name, label: classLabels[name] }))}
        value={value.class}
        allowDeselect={false}
        error={error?.findProblem('class')}
        onChange={(chosen) => changeSettings({ class: priorityClasses.find((name) => name === chosen) ?? 'normal' })}
      />
      <WeightField
        othersName="keys of the owner"
        value={value.weight ?? 1}
        onChange={(weight) => changeSettings({ weight })}
      />
      <TagsInput
        label="Models"
        description={describeField('models', 'Empty: all')}
        disabled={isSetByAdmin('models')}
        data={models.data?.map(({ id }) => id) ?? []}
        value={value.models ?? []}
        clearable
        clearButtonProps={{ 'aria-label': 'Allow all models' }}
        error={error?.findProblem('models')}
        onChange={(chosen) => {
          const { models: _, ...others } = value;
          onChange(chosen.length === 0 ? others : { ...others, models: chosen });
        }}
      />
      <MultiSelect
        label="Tiers"
        description={describeField('tiers', 'Empty: all')}
        disabled={isSetByAdmin('tiers')}
        data={tiers.map((tier) => ({ value: tier, label: tierNames[tier] }))}
        value={value.tiers ?? []}
        clearable
        clearButtonProps={{ 'aria-label': 'Allow all tiers' }}
        error={error?.findProblem('tiers')}
        onChange={(chosen) => {
          const { tiers: _, ...others } = value;
          const chosenTiers = tiers.filter((tier) => chosen.includes(tier));
          onChange(chosenTiers.length === 0 ? others : { ...others, tiers: chosenTiers });
        }}
      />
      <TagsInput
        label="Tools"
        description={describeField('tools', 'Empty: all; server/* stands for all tools of an MCP server')}
        disabled={isSetByAdmin('tools')}
        data={listToolChoices(tools.data ?? [])}
        value={value.tools ?? []}
        clearable
        clearButtonProps={{ 'aria-label': 'Allow all tools' }}
        error={error?.findProblem('tools')}
        onChange={(chosen) => {
          const { tools: _, ...others } = value;
          onChange(chosen.length === 0 ? others : { ...others, tools: chosen });
        }}
      />
      {ceiling ? <Text size="sm">The owner of the key may use: {describeCeiling(ceiling)}.</Text> : null}
      <Fieldset legend="Limits of this key">
        <LimitsFields
          value={value.limits}
          isSetByAdmin={(name) => isSetByAdmin(`limits.${name}`)}
          onChange={(limits) => changeSettings({ limits })}
        />
      </Fieldset>
    </>
  );
}

function listToolChoices(tools: readonly ListedTool[]): string[] {
  const servers = new Set(tools.flatMap(({ server }) => (server === undefined ? [] : [`${server}/*`])));
  return [...servers, ...tools.map(({ name }) => name)];
}
