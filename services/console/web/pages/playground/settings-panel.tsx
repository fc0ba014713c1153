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
import type { ToolDescription } from '../../formats/conversation.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { parseTools } from './parse-tools.ts';
import type { SharedSettings } from './saved/saved-conversation.ts';

export interface SettingsPanelProps {
  formats: readonly ServedFormat[];
  format: ServedFormat;
  onChooseFormat: (format: ServedFormat) => void;
  models: readonly ServedModel[];
  /** The models that answer: one, or two side by side. */
  chosenModels: readonly [string, ...string[]];
  onChooseModels: (models: readonly [string, ...string[]]) => void;
  tools: UseQueryResult<ListedTool[], ApiFailure>;
  settings: SharedSettings;
  /** The text in which the person describes tools. */
  ownTools: string;
  onChange: (settings: SharedSettings, ownTools: string) => void;
}

export function SettingsPanel(props: SettingsPanelProps) {
  const { formats, format, onChooseFormat, models, chosenModels, onChooseModels, tools, settings, ownTools, onChange } =
    props;
  const changeSettings = (change: Partial<SharedSettings>): void => onChange({ ...settings, ...change }, ownTools);
  const parsedOwnTools = parseTools(ownTools);
  const routerTools = settings.tools.filter((tool) => !parsedOwnTools.tools.some(({ name }) => name === tool.name));
  const setTools = (newRouterTools: readonly ToolDescription[], newOwnTools: string): void =>
    onChange({ ...settings, tools: [...newRouterTools, ...parseTools(newOwnTools).tools] }, newOwnTools);
  const modelIds = models.map(({ id }) => id);
  const [firstModel, secondModel] = chosenModels;
  return (
    <Stack gap="sm" className="panel" component="section" aria-label="Settings of the request">
      <SegmentedControl
        fullWidth
        aria-label="Format of the request"
        value={format.name}
        onChange={(chosen) => onChooseFormat(formats.find(({ name }) => name === chosen) ?? format)}
        data={formats.map(({ name, label }) => ({ value: name, label }))}
      />
      <Select
        label="Model"
        data={addMissingNames(modelIds, [firstModel])}
        value={firstModel}
        searchable
        allowDeselect={false}
        onChange={(model) => onChooseModels([model ?? firstModel, ...chosenModels.slice(1)])}
      />
      <Select
        label="Compare with"
        description="Each message goes to both models"
        placeholder="No second model"
        data={secondModel === undefined ? modelIds : addMissingNames(modelIds, [secondModel])}
        value={secondModel ?? null}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Ask one model only' }}
        onChange={(model) => onChooseModels(model === null ? [firstModel] : [firstModel, model])}
      />
      <Textarea
        label="Instructions"
        description="The system prompt"
        autosize
        minRows={2}
        maxRows={8}
        value={settings.system}
        onChange={({ currentTarget }) => changeSettings({ system: currentTarget.value })}
      />
      <NumberInput
        label="Max output tokens"
        description="Empty: the model’s default"
        min={1}
        max={1_000_000}
        allowDecimal={false}
        value={settings.maxTokens}
        onChange={(value) => changeSettings({ maxTokens: typeof value === 'number' ? value : '' })}
      />
      <NumberField
        label="Temperature"
        description="Empty: the model’s default"
        min={0}
        max={2}
        step={0.1}
        number={settings.temperature === '' ? undefined : settings.temperature}
        onNumber={(value) => changeSettings({ temperature: value ?? '' })}
      />
      <Switch
        label="Think before answering"
        checked={settings.thinking}
        onChange={({ currentTarget }) => changeSettings({ thinking: currentTarget.checked })}
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
          data={addMissingNames(
            (tools.data ?? []).map(({ name }) => name),
            routerTools.map(({ name }) => name),
          )}
          value={routerTools.map(({ name }) => name)}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Offer no tools' }}
          onChange={(chosenNames) =>
            setTools(
              [...routerTools, ...(tools.data ?? [])].filter(
                ({ name }, index, allTools) =>
                  chosenNames.includes(name) && allTools.findIndex((tool) => tool.name === name) === index,
              ),
              ownTools,
            )
          }
        />
      )}
      <Textarea
        label="Tools of your own"
        description="JSON, in the notation of any format"
        placeholder='[{"name": "weather", "description": "…", "input_schema": {"type": "object"}}]'
        autosize
        minRows={1}
        maxRows={10}
        value={ownTools}
        error={parsedOwnTools.problem}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={({ currentTarget: { value } }) => setTools(routerTools, value)}
      />
    </Stack>
  );
}

/** Adds the chosen names that are missing from a list of names, at the beginning of the list. */
function addMissingNames(names: readonly string[], chosen: readonly string[]): string[] {
  return [...chosen.filter((name) => !names.includes(name)), ...names];
}
