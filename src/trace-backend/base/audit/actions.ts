/** The words of the code lists in actions. */
const CODE_WORDS = [
  'PRODUCT_TYPE',
  'SEMI_PRODUCT',
  'FACILITY_TYPE',
  'MEASURE_UNIT_TYPE',
  'PROCESSING_EVIDENCE_TYPE',
  'PROCESSING_EVIDENCE_FIELD',
] as const;
export type CodeWord = (typeof CODE_WORDS)[number];

/** Every action of the audit, except those on code lists. */
const ACTIONS = [
  // logins and sessions
  'LOGIN',
  'LOGIN_FAILED',
  'LOGOUT',
  'END_SESSION',
  'REFRESH_TOKEN_REUSED',
  'REFUSED',
  // accounts
  'REGISTER_USER',
  'CONFIRM_USER_EMAIL',
  'UPDATE_USER_PROFILE',
  'REQUEST_PASSWORD',
  'RESET_PASSWORD',
  'SET_PASSWORD',
  'UNLOCK_USER',
  'REQUEST_EMAIL_CHANGE',
  'CANCEL_EMAIL_CHANGE',
  'CHANGE_EMAIL',
  'SET_SECOND_FACTOR',
  'RENEW_RECOVERY_CODES',
  'REMOVE_SECOND_FACTOR',
  'CREATE_API_KEY',
  'REVOKE_API_KEY',
  'EXPORT_USER',
  'ERASE_USER',
  // administration of users
  'CREATE_SYSTEM_ADMIN',
  'ACTIVATE_USER',
  'DEACTIVATE_USER',
  'SET_USER_REGIONAL_ADMIN',
  'UNSET_USER_REGIONAL_ADMIN',
  'SET_USER_SYSTEM_ADMIN',
  'UNSET_USER_SYSTEM_ADMIN',
  'REMOVE_USER_SECOND_FACTOR',
  'RESEND_CONFIRMATION',
  'COPY_CONFIRMATION_LINK',
  'SEND_PASSWORD_LINK',
  // companies
  'CREATE_COMPANY',
  'UPDATE_COMPANY',
  'ACTIVATE_COMPANY',
  'DEACTIVATE_COMPANY',
  'MERGE_TO_COMPANY',
  'ADD_USER_TO_COMPANY',
  'REMOVE_USER_FROM_COMPANY',
  'SET_USER_COMPANY_ROLE',
  'ACCEPT_INVITATION',
  'DECLINE_INVITATION',
  'EXPIRE_INVITATION',
  // products
  'CREATE_PRODUCT',
  'UPDATE_PRODUCT',
  'DELETE_PRODUCT',
  'LEAVE_PRODUCT',
  'ALLOW_PRODUCT',
  'ADD_PRODUCT_KNOWLEDGE',
  'UPDATE_PRODUCT_KNOWLEDGE',
  'CREATE_FINAL_PRODUCT',
  'UPDATE_FINAL_PRODUCT',
  'DELETE_FINAL_PRODUCT',
  // labels
  'CREATE_LABEL',
  'UPDATE_LABEL',
  'DELETE_LABEL',
  'PUBLISH_LABEL',
  'UNPUBLISH_LABEL',
  'UPDATE_LABEL_CONTENT',
  'KEEP_LABEL_CONTENT',
  'UPDATE_LABEL_DOCUMENTS',
  'CREATE_LABEL_BATCH',
  'UPDATE_LABEL_BATCH',
  'DELETE_LABEL_BATCH',
  'ADD_LABEL_FEEDBACK',
  'DELETE_LABEL_FEEDBACK',
  // files
  'UPLOAD_IMAGE',
  'UPLOAD_DOCUMENT',
  'EXPIRE_IMAGE',
  'EXPIRE_DOCUMENT',
  // value chains
  'CREATE_VALUE_CHAIN',
  'UPDATE_VALUE_CHAIN',
  'DELETE_VALUE_CHAIN',
  'ENABLE_VALUE_CHAIN',
  'DISABLE_VALUE_CHAIN',
  // currencies
  'IMPORT_RATES',
  'ENABLE_CURRENCY',
  'DISABLE_CURRENCY',
  // the program
  'UPDATE_SETTING',
  'MAKE_KEY',
  'ROTATE_KEYS',
  'ROTATE_SERVICE_TOKEN',
  'COMMAND',
  'REPLAY_NOTIFICATIONS',
  'DISMISS_NOTIFICATION',
  'REPLAY_MAILS',
  'DISMISS_MAIL',
] as const;

/** An action that the audit records. */
export type AuditAction = (typeof ACTIONS)[number] | `${'CREATE' | 'UPDATE' | 'DELETE'}_${CodeWord}`;

/** All actions, in alphabetical order. */
export const AUDIT_ACTIONS: readonly AuditAction[] = [
  ...ACTIONS,
  ...CODE_WORDS.flatMap(word => [`CREATE_${word}`, `UPDATE_${word}`, `DELETE_${word}`] as const),
].sort();

/** The kinds of records in the audit, in alphabetical order. */
export const AUDIT_ENTITIES = [
  'command',
  'company',
  'currency',
  'document',
  'facility-type',
  'image',
  'mail',
  'measure-unit-type',
  'notification',
  'processing-evidence-field',
  'processing-evidence-type',
  'product',
  'product-type',
  'secret',
  'semi-product',
  'setting',
  'signing_key',
  'user',
  'value-chain',
] as const;
export type AuditEntity = (typeof AUDIT_ENTITIES)[number];
