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
import { Link } from 'wouter';
import type { ServedModel } from '../../../contract/live.ts';
import type { ApiFailure } from '../../api/call-api.ts';
import type { ListedTool } from '../tools/run-tool.ts';
import { NumberField } from '../../parts/number-field.tsx';
import type { OfferedTool } from '../../formats/conversation.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { parseTools } from './parse-tools.ts';
import type { SharedSettings } from './saved/saved-conversation.ts';

export interface SettingsPanelProps {
  formats: readonly ServedFormat[];
  format: ServedFormat;
  onFormat: (format: ServedFormat) => void;
  models: readonly ServedModel[];
  /** The models that answer. There is one, or there are two side by side. */
  chosen: readonly [string, ...string[]];
  onChoose: (models: readonly [string, ...string[]]) => void;
  tools: UseQueryResult<ListedTool[], ApiFailure>;
  settings: SharedSettings;
  /** The person's own tools, as the text that the person types. */
  ownTools: string;
  onChange: (settings: SharedSettings, ownTools: string) => void;
}

export function SettingsPanel(props: SettingsPanelProps) {
  const { formats, format, onFormat, models, chosen, onChoose, tools, settings, ownTools, onChange } = props;
  const set = (change: Partial<SharedSettings>): void => onChange({ ...settings, ...change }, ownTools);
  const own = parseTools(ownTools);
  const listed = settings.tools.filter((tool) => !own.tools.some(({ name }) => name === tool.name));
  const offer = (routers: readonly OfferedTool[], written: string): void =>
    onChange({ ...settings, tools: [...routers, ...parseTools(written).tools] }, written);
  const names = models.map(({ id }) => id);
  const [first, second] = chosen;
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
        data={withNames(names, [first])}
        value={first}
        searchable
        allowDeselect={false}
        onChange={(model) => onChoose([model ?? first, ...chosen.slice(1)])}
      />
      <Select
        label="Compare with"
        description="Each message goes to both models"
        placeholder="No second model"
        data={second === undefined ? names : withNames(names, [second])}
        value={second ?? null}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Ask one model only' }}
        onChange={(model) => onChoose(model === null ? [first] : [first, model])}
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
          <Anchor component={Link} href="/tools" inherit underline="always">
            Tools
          </Anchor>
          .
        </Text>
      ) : (
        <MultiSelect
          label="Tools of this router"
          description="The model may call them; you decide whether they run"
          data={withNames(
            (tools.data ?? []).map(({ name }) => name),
            listed.map(({ name }) => name),
          )}
          value={listed.map(({ name }) => name)}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Offer no tools' }}
          onChange={(wanted) =>
            offer(
              [...listed, ...(tools.data ?? [])].filter(
                ({ name }, place, all) =>
                  wanted.includes(name) && all.findIndex((each) => each.name === name) === place,
              ),
              ownTools,
            )
          }
        />
      )}
      <Textarea
        label="Tools of your own"
        description="JSON, in the form of any format"
        placeholder='[{"name": "weather", "description": "…", "input_schema": {"type": "object"}}]'
        autosize
        minRows={1}
        maxRows={10}
        value={ownTools}
        error={own.problem}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={({ currentTarget: { value } }) => offer(listed, value)}
      />
    </Stack>
  );
}

/** Returns the names, preceded by chosen names that are no longer among them. */
function withNames(names: readonly string[], chosen: readonly string[]): string[] {
  return [...chosen.filter((name) => !names.includes(name)), ...names];
}
