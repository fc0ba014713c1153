import {
  Anchor,
  MultiSelect,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
} from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ServedModel } from '../../../contract/live.ts';
import type { ApiFailure } from '../../api/call-api.ts';
import type { ListedTool } from '../tools/run-tool.ts';
import { NumberField } from '../../parts/number-field.tsx';
import type { OfferedTool, Settings } from '../../formats/conversation.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { parseTools } from './parse-tools.ts';

export interface SettingsPanelProps {
  formats: readonly ServedFormat[];
  format: ServedFormat;
  onFormat: (format: ServedFormat) => void;
  models: readonly ServedModel[];
  tools: UseQueryResult<ListedTool[], ApiFailure>;
  settings: Settings;
  onChange: (settings: Settings) => void;
}

/** What a request holds besides the conversation. */
export function SettingsPanel(props: SettingsPanelProps) {
  const { formats, format, onFormat, models, tools, settings, onChange } = props;
  const [chosen, setChosen] = useState<string[]>([]);
  const [written, setWritten] = useState('');
  const set = (change: Partial<Settings>): void => onChange({ ...settings, ...change });
  const own = parseTools(written);
  const offer = (names: string[], typed: OfferedTool[]): void => {
    const listed = (tools.data ?? []).filter(({ name }) => names.includes(name));
    set({ tools: [...listed, ...typed] });
  };
  const names = models.map(({ id }) => id);
  return (
    <Stack gap="sm" className="panel" component="section" aria-label="Settings of the request">
      <SegmentedControl
        fullWidth
        aria-label="Format of the request"
        value={format.name}
        onChange={(chosen) => onFormat(formats.find(({ name }) => name === chosen) ?? format)}
        data={formats.map(({ name, label }) => ({ value: name, label }))}
      />
      <Select
        label="Model"
        data={names.includes(settings.model) ? names : [settings.model, ...names]}
        value={settings.model}
        searchable
        allowDeselect={false}
        onChange={(model) => set({ model: model ?? 'auto' })}
      />
      <Textarea
        label="Instructions"
        description="The system prompt"
        autosize
        minRows={2}
        maxRows={8}
        value={settings.system}
        onChange={({ currentTarget }) => set({ system: currentTarget.value })}
      />
      <NumberInput
        label="Max output tokens"
        description="In tokens. Empty: the model’s default"
        min={1}
        max={1_000_000}
        allowDecimal={false}
        value={settings.maxTokens}
        onChange={(value) => set({ maxTokens: typeof value === 'number' ? value : '' })}
      />
      <NumberField
        label="Temperature"
        description="Empty: the model’s default"
        min={0}
        max={2}
        step={0.1}
        number={settings.temperature === '' ? undefined : settings.temperature}
        onNumber={(value) => set({ temperature: value ?? '' })}
      />
      <Switch
        label="Think before answering"
        checked={settings.thinking}
        onChange={({ currentTarget }) => set({ thinking: currentTarget.checked })}
      />
      {tools.data?.length === 0 ? (
        <Text size="sm" c="dimmed">
          No tools worker is connected. See{' '}
          <Anchor component={Link} href="/tools" inherit>
            Tools
          </Anchor>
          .
        </Text>
      ) : (
        <MultiSelect
          label="Tools of this router"
          description="The model may call them; you decide whether they run"
          data={(tools.data ?? []).map(({ name }) => name)}
          value={chosen}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Offer no tools' }}
          onChange={(names) => {
            setChosen(names);
            offer(names, own.tools);
          }}
        />
      )}
      <Textarea
        label="Tools of your own"
        description="JSON, in the form of any format"
        placeholder='[{"name": "weather", "description": "…", "input_schema": {"type": "object"}}]'
        autosize
        minRows={1}
        maxRows={10}
        value={written}
        error={own.problem}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={({ currentTarget: { value } }) => {
          setWritten(value);
          offer(chosen, parseTools(value).tools);
        }}
      />
    </Stack>
  );
}
