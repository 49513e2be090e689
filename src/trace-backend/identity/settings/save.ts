import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { MAX_SETTINGS } from './schemas.ts';
import { countSettings, findSetting, type GlobalSetting, lockSetting, updateSetting } from './store.ts';

/** The console's bookmark in its first steps, which the audit leaves out. */
const FIRST_STEP = 'FIRST_STEP';

/**
 * Adds or changes a setting; omitted fields stay unchanged, an empty value clears.
 *
 * @throws Problem invalid, if there are too many
 */
export async function saveSetting(
  pool: pg.Pool,
  requester: Requester,
  name: string,
  body: { value?: string | null; isPublic?: boolean | null },
): Promise<void> {
  await transaction(pool, async database => {
    if (!(await findSetting(database, name)) && (await countSettings(database)) >= MAX_SETTINGS) {
      throw new Problem('setting.too_many', { max: MAX_SETTINGS.toLocaleString('en') });
    }
    const before = await lockSetting(database, name);
    const after: GlobalSetting = {
      value: body.value === undefined ? before.value : body.value || null,
      isPublic: body.isPublic ?? before.isPublic,
    };
    const fields = (['value', 'isPublic'] as const).filter(field => before[field] !== after[field]);
    if (fields.length === 0) return;
    await updateSetting(database, name, after);
    if (name === FIRST_STEP) return;
    const event: AuditEvent = {
      action: 'UPDATE_SETTING',
      entity: 'setting',
      entityId: name,
      details: { fields },
    };
    await audit(database, requester, event);
  });
}
