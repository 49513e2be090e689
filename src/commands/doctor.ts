import { examine } from '../doctor/doctor.ts';
import { inLines } from '../doctor/finding.ts';
import { misspeltSettings } from '../doctor/misspelt-settings.ts';
import { settingsInForce } from '../doctor/settings.ts';
import { describeStatus } from '../doctor/status.ts';
import { reachableBecause } from '../platform/http/hosts.ts';
import { shortSecrets } from '../platform/settings/settings.ts';
import { VERSION } from '../platform/version.ts';
import type { BackupCommand } from './backup.ts';

/** Examines the installation of the settings; ends with 1 if something does not work or data is at risk. */
export async function doctor({ settings, options }: BackupCommand): Promise<string> {
  const now = new Date();
  const because = reachableBecause(settings);
  const warnings = [
    ...misspeltSettings(process.env),
    ...shortSecrets(settings).map(name => `${name} is shorter than 32 bytes`),
    ...(because !== undefined && settings.AUTH_MODE !== 'required' && settings.SERVICES.includes('packet')
      ? [
          `anyone can read and write data created without tokens (${because}): AUTH_MODE is ${settings.AUTH_MODE}`,
        ]
      : []),
  ];
  const findings = await examine({ settings, environment: process.env, warnings }, now);
  if (findings.some(({ level }) => level === 'error')) process.exitCode = 1;
  if (options.json !== true) return inLines(findings);
  const inForce = settingsInForce(settings, process.env);
  return JSON.stringify({ version: VERSION, at: now.toISOString(), findings, settings: inForce }, null, 2);
}

/** How the installation is, in about ten lines. */
export async function status({ settings }: BackupCommand): Promise<string> {
  return describeStatus(settings, new Date());
}
