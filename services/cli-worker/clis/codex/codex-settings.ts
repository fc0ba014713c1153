/** What Codex can do beyond asking its model, as far as it can be switched off. */
const features = [
  'shell_tool unified_exec shell_snapshot view_image image_generation sleep_tool workspace_dependencies',
  'browser_use browser_use_external in_app_browser computer_use multi_agent goals memories',
  'apps plugins remote_plugin tool_suggest skill_search hooks',
].flatMap((line) => line.split(' '));

/** Settings that leave Codex nothing but the model: no tools, no texts about the machine, no calls home. */
export const codexSettings: readonly string[] = [
  ...features.map((feature) => `features.${feature}=false`),
  'web_search="disabled"',
  'include_permissions_instructions=false',
  'include_environment_context=false',
  'include_apps_instructions=false',
  'skills.include_instructions=false',
  'analytics.enabled=false',
  'check_for_update_on_startup=false',
  'history.persistence="none"',
];
