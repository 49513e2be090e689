import {
  forbidden,
  invalid,
  notFound,
  preconditionFailed,
  tooLarge,
  tooManyRequests,
  unauthenticated,
  unavailable,
  unsupportedMediaType,
} from './reason.ts';

/** The reasons of the trace backend, in the order of its folders. */
export const traceReasons = {
  // access
  'session.required': unauthenticated('log in first: POST /api/user/login'),
  'session.ended': unauthenticated('the session has ended; log in again'),
  'user.not_admin': forbidden('this is for a REGIONAL_ADMIN or SYSTEM_ADMIN'),
  'second_factor.required': forbidden(
    'a {role} needs a second factor here: set one up (POST /api/user/second_factor/begin), or log in with its code',
  ),
  'request.origin_not_allowed': forbidden(
    'calls from pages of this origin are refused; allowed are those of TRACE_PUBLIC_URL, TRACE_FRONTEND_URL and CORS_ORIGINS',
  ),

  // audit
  'audit.part_without_user': invalid('{field} is only used with user or userId'),
  'audit.part_without_count': invalid('{field} must be FETCH with this part'),
  'audit.part_without_offset': invalid('{field} must be 0 with this part; use after'),
  'audit.too_many_users': invalid(
    '{field} fits more than {max} users',
    'Search for more of the name or address.',
  ),

  // values of several resources
  'validation.no_date': invalid('{field} is not a date'),
  'validation.no_date_or_time': invalid('{field} must be an ISO 8601 date or date-time'),
  'validation.no_time': invalid('{field} must be an ISO 8601 date-time'),
  'validation.not_in_future': invalid('{field} must be in the future'),
  'validation.too_many_days_ahead': invalid('{field} must be at most {max} days from now'),
  'validation.date_out_of_range': invalid('{field} must be a date from {min} to {max}, as YYYY-MM-DD'),
  'validation.no_email': invalid('{field} must be an e-mail address such as ana@example.org'),
  'validation.unknown_record': invalid('{field} is not a {noun}'),
  'record.changed': preconditionFailed('it has changed since you read it; read it again'),

  // users
  'user.unknown': notFound('there is no such user'),
  'user.deactivated': invalid('the account is deactivated'),
  'user.erased': invalid('the account is erased'),
  'user.address_confirmed': invalid('the user has confirmed the address already'),
  'user.address_registered': invalid(
    'this address is already registered',
    'Log in, or request a new password with POST /api/user/request_reset_password.',
  ),
  'user.named_address_registered': invalid('{email} is already registered'),
  'user.last_system_admin': invalid(
    'this is the last active SYSTEM_ADMIN',
    'Make another user a SYSTEM_ADMIN first.',
  ),
  'user.already_system_admin': invalid('the user is a SYSTEM_ADMIN, which includes it'),
  'user.is_yourself': invalid('you cannot do this to yourself; ask another administrator'),
  'user.erasing_yourself': invalid('use POST /api/user/erase for yourself'),
  'user.action_for_system_admin': forbidden('{action} is for a SYSTEM_ADMIN'),
  'user.only_system_admin_changes': forbidden('only a SYSTEM_ADMIN can change a SYSTEM_ADMIN'),
  'user.only_other_system_admin_changes': forbidden('only another SYSTEM_ADMIN can change a SYSTEM_ADMIN'),
  'user.confirmation_token_unusable': invalid(
    '{field} is unknown, used or older than 72 hours; request another mail',
  ),
  'user.reset_token_unusable': invalid(
    '{field} is unknown, used or older than an hour; request another mail',
  ),
  'confirmation_link.mails_are_sent': invalid(
    'this installation sends mails: send the confirmation mail again instead',
  ),
  'contact.unknown': notFound('nobody has this contact'),

  // keys for programs
  'key.unknown': notFound('there is no such key'),
  'key.not_resolved': notFound('no such key counts'),
  'key.too_many': invalid('a user has at most {max} keys: revoke one first'),
  'key.admin_scope_not_allowed': invalid('{field}: admin is for administrators'),
  'service_token.required': unauthenticated(
    'this needs the service token',
    'The operator gives both services the same SERVICE_TOKEN.',
  ),

  // passwords, logins and sessions
  'password.wrong_length': invalid('{field} must have {min} to {max} characters'),
  'password.too_common': invalid('{field} is one of the most common passwords; choose another'),
  'password.missing_or_wrong': invalid('{field} is missing or wrong'),
  'password.too_many_checks': unavailable('too many passwords are waiting to be checked'),
  'password.changed_meanwhile': invalid('the password was changed meanwhile; try again'),
  'login.wrong': unauthenticated('username or password is wrong'),
  'login.too_many_failures': tooManyRequests('too many failed attempts; try again later'),
  'login.address_unconfirmed': unauthenticated(
    'the account is not active: its e-mail address has not been confirmed',
    'Open the link of the confirmation mail, or request it again.',
  ),
  'login.not_activated': unauthenticated(
    'the account is not active: an administrator has not activated it yet',
  ),
  'login.deactivated': unauthenticated('the account is not active: an administrator deactivated it'),
  'login.code_wrong': unauthenticated('{field} is wrong or was used before'),
  'session.none': unauthenticated('nobody is logged in'),
  'session.unknown': notFound('there is no such session'),

  // second factors
  'second_factor.code_required': unauthenticated('{field} is needed: this account has a second factor'),
  'second_factor.exists': invalid('there is already a second factor; remove it first'),
  'second_factor.none': invalid('there is no second factor'),
  'second_factor.none_to_confirm': invalid(
    'there is no second factor to confirm',
    'Begin with POST /api/user/second_factor/begin.',
  ),
  'second_factor.required_by_role': invalid('the role {role} requires a second factor'),
  'second_factor.code_wrong': invalid('{field} is wrong or was used before'),

  // changes of addresses, mails and settings
  'email_change.address_unchanged': invalid('{field} is already your address'),
  'email_change.requested_just_now': tooManyRequests('a change was requested just now; try again later'),
  'email_change.token_unusable': invalid(
    '{field} is unknown, used or older than 72 hours; request the change again',
  ),
  'email_change.unknown': notFound('there is no pending change of address'),
  'mail.unknown': notFound('there is no such mail; it was sent, dismissed or is not needed any more'),
  'mail.being_sent_again': invalid('the mail is being sent again already'),
  'mail.obsolete': invalid('there is no reason any more to send this mail'),
  'setting.too_many': invalid('there are at most {max} settings'),

  // companies
  'company.unknown': notFound('there is no such company'),
  'company.deactivated': invalid('the company is deactivated'),
  'company.not_active': invalid('{field} is not an active company'),
  'company.not_yours': invalid('{field} is not an active company of yours'),
  'company.not_changeable_deactivated': forbidden(
    'the company is deactivated; a SYSTEM_ADMIN can activate it',
  ),
  'company.only_admins_change': forbidden('only its COMPANY_ADMINs can change the company'),
  'company.last_admin': invalid('this is the last COMPANY_ADMIN of the company; make another user one first'),
  'company.too_many_users': invalid('the company has {max} users, which is the maximum'),
  'company.none_administered': invalid('{field} is required: you are the COMPANY_ADMIN of no companies'),
  'company.several_administered': invalid(
    '{field} is required: you are the COMPANY_ADMIN of {count} companies',
  ),
  'company.merged_into_itself': invalid('{field} must be another company'),
  'company.merge_has_too_many_users': invalid(
    'together the companies have more than {max} users, which is the maximum',
  ),
  'company.merge_has_too_many_value_chains': invalid(
    'together the companies have more than {max} value chains, which is the maximum',
  ),
  'company_user.not_named': invalid('{field} is required, or email instead'),
  'company_user.named_twice': invalid('{field} cannot be given together with userId'),
  'company_user.unknown': invalid('{field} is not a user of the company'),
  'company_user.not_active': invalid('{field} is not an active user'),
  'company_user.is_member': invalid('{field} is the address of a member of the company'),
  'company_user.neither_member_nor_invited': invalid(
    '{field} is neither the address of a member nor invited',
  ),
  'company_user.has_other_role': invalid(
    '{field} is already a {role} of the company; use SET_USER_COMPANY_ROLE to change the role',
  ),
  'company_invitation.unknown': notFound('there is no such invitation'),
  'company_invitation.token_unusable': invalid(
    '{field} is unknown, used or expired; ask the company to invite you again',
  ),
  'company_invitation.no_active_account': invalid(
    'no active account has this address: create one, and open the link again once an administrator has activated it',
  ),
  'company_invitation.link_required': invalid('this invitation is accepted by the link in its mail'),
  'company_invitation.too_many_to_address': tooManyRequests(
    '{field} was invited {max} times within a day; try again later',
  ),
  'company_invitation.too_many_sent': tooManyRequests(
    'you have invited {max} users within an hour; try again later',
  ),
  'country.unknown': invalid('{field} is not a country of GET /api/common/countries'),

  // images and documents
  'file.missing': invalid('{field} is required, as a file'),
  'file.not_one': invalid('{field} must be one file, in a part of that name'),
  'file.empty': invalid('{field} is empty'),
  'file.too_large': tooLarge('file is larger than {max} MB'),
  'file.unknown_storage_key': invalid(
    '{field} must be the storage key of an uploaded file',
    'Upload the file yourself; files of partners cannot be used.',
  ),
  'file.other_kind': invalid('{field} must be the storage key of an uploaded {kind}'),
  'image.unknown': notFound('there is no such image'),
  'image.wrong_format': unsupportedMediaType('file must be a JPEG, PNG or WebP image'),
  'image.damaged': invalid('{field} is damaged: it cannot be decoded as the image format of its first bytes'),
  'image.too_many_pixels': invalid('{field} has more than {max} million pixels'),
  'image.too_slow_to_read': invalid('{field} takes longer than {max} seconds to be read as an image'),
  'image.too_many_waiting': unavailable('too many images are waiting to be processed'),
  'image.upload_too_slow': unavailable('the upload took too long; try again'),
  'document.unknown': notFound('there is no such document'),

  // currencies
  'currency.unknown': notFound('there is no currency {code}'),
  'currency.unsupported': invalid('{field} must be a supported currency; {code} is unknown'),
  'currency.disabled': invalid('{field} must be a supported currency; {code} is disabled'),
  'currency.not_listed': invalid('{field} is not a currency of GET /api/chain/currency-type/list'),
  'currency.not_in_iso_4217': invalid('{field} is not a currency of ISO 4217'),
  'exchange_rate.none_yet': notFound('there are no rates of {codes} yet'),
  'exchange_rate.never_of_both': notFound('no day has rates of both {codes}'),
  'exchange_rate.none_on_date': notFound('there are no rates of {codes} for {date}'),
  'exchange_rate.not_of_both_until_date': notFound('no day up to {date} has rates of both {codes}'),
  'exchange_rate.none_in_period': notFound('there are no rates of {code} in that time'),
  'exchange_rate.wrong_period': invalid('{field} must be at most ten years before to, and not after it'),
  'exchange_rate.being_fetched': unavailable('the exchange rates of this date are being fetched; try again'),
  'exchange_rate.requests_used_up': tooManyRequests(
    "the day's {max} requests for exchange rates are used up",
  ),
  'exchange_rate.own_requests_used_up': tooManyRequests(
    "you have used up your {max} of the day's requests for exchange rates",
  ),
  'exchange_rate.requests_suspended': unavailable(
    'the exchange-rate provider keeps failing; requests are suspended for a while',
  ),
  'exchange_rate.provider_refuses_key': unavailable(
    'the exchange-rate provider does not accept FX_ACCESS_KEY',
  ),
  'exchange_rate.provider_refuses_euro': unavailable(
    'the exchange-rate provider does not give this key rates in euro',
  ),
  'exchange_rate.provider_requests_used_up': unavailable(
    'the exchange-rate provider says that the requests of this key are used up',
  ),
  'exchange_rate.provider_failed': unavailable('the exchange-rate provider answered with an unknown error'),
  'exchange_rate.provider_answer_invalid': unavailable('the exchange-rate provider sent an invalid answer'),

  // files of exchange rates
  'rates_file.unreadable': invalid('{file} cannot be read'),
  'rates_file.is_folder': invalid('{file} is a folder, not a file'),
  'rates_file.empty': invalid('{file} is empty'),
  'rates_file.not_of_ecb': invalid(
    "{file} is not the ECB's eurofxref-hist.csv: its first line must begin with Date,USD,…",
  ),
  'rates_file.currency_twice': invalid('the first line of {file} names {code} twice'),
  'rates_file.cut_off': invalid(
    'nothing of {file} was imported\nthe last line may be cut off: no line break follows it',
  ),
  'rates_file.wrong_lines': invalid('nothing of {file} was imported\n{lines}'),
  'rates_file.jumps': invalid('nothing of {file} was imported; with force they are imported anyway\n{lines}'),
  'rates_file.line_without_date': invalid('line {line}: nothing is not a date'),
  'rates_file.no_date': invalid('line {line}: {value} is not a date'),
  'rates_file.date_out_of_range': invalid('line {line}: {value} is not from {min} to {max}'),
  'rates_file.date_twice': invalid('line {line}: {value} is also in an earlier line'),
  'rates_file.wrong_cell_count': invalid('line {line}: {count} cells, but the first line has {expected}'),
  'rates_file.no_rate': invalid('line {line}: {value} is not a rate of {code}'),
  'rates_file.jump': invalid('{date}: {value} {code}, but {before} on {day_before}'),

  // codes and value chains
  'code.unknown': notFound('there is no such {noun}'),
  'code.not_changeable': forbidden('a REGIONAL_ADMIN can add a {noun}, but not change one'),
  'code.in_use': invalid('the {noun} is in use by {uses}'),
  'code.key_taken': invalid('{field} {value} is that of another {noun}'),
  'code.too_many': invalid('a code list has at most {max} entries'),
  'code.language_twice': invalid('{field} is the same as that of translation {index}'),
  'code.unit_based_on_it': invalid('{field} is a unit that is based on this one'),
  'value_chain.unknown': notFound('there is no such value chain'),
  'value_chain.disabled': invalid('the value chain is disabled'),
  'value_chain.named_is_disabled': invalid('the value chain {name} is disabled'),
  'value_chain.not_enabled': invalid('{field} is not an enabled value chain'),

  // products and final products
  'product.other_owner': invalid('{field} is OWNER, which only the company that owns the product can be'),
  'product.company_has_left': invalid(
    '{field}: company {company} has removed itself from this product. One of its members must allow it first: POST /api/product/{product}/company/{company}/allow',
  ),
  'product.not_left': notFound(
    'there is no product that a company of yours with this id has removed itself from',
  ),
  'product.unknown': notFound('there is no such product'),
  'product.only_owner_changes': forbidden('only members of the company that owns the product can change it'),
  'product.history_not_readable': forbidden('only users who may change the product can read its history'),
  'product.only_members_remove_company': forbidden('only its members can remove a company from a product'),
  'product.company_not_associated': notFound('the company is not associated with the product'),
  'product.owner_cannot_be_removed': invalid(
    'the owner cannot be removed; assign the product to another company, or delete it',
  ),
  'final_product.unknown': notFound('there is no such final product'),
  'final_product.too_many': invalid('a product has at most {max} final products'),

  // labels and batches
  'label.unknown': notFound('there is no such label'),
  'label.too_many': invalid('a product has at most {max} labels'),
  'label.too_many_fields': invalid('a label has at most {max} fields'),
  'label.in_use': invalid('the label is in use by the final product "{name}"'),
  'label.of_other_product': invalid('{field} is not a label of this product'),
  'label.no_content_field': invalid("{field} is no field of a label's content"),
  'label.no_document_of_owner': invalid('{field} is not a document of the company that owns the product'),
  'label.second_video': invalid('{field} is a second video'),
  'label.without_picture': notFound('the label has no picture'),
  'label_batch.unknown': notFound('there is no such batch'),
  'label_batch.too_many': invalid('a label has at most {max} batches'),
  'label_batch.number_taken': invalid('{field} is the number of another batch of this label'),

  // feedback and the knowledge blog
  'feedback.unknown': notFound('there is no such feedback'),
  'feedback.consent_required': invalid('{field} is required for an e-mail address'),
  'feedback.too_much': invalid('this label takes no more feedback'),
  'feedback.too_much_today': tooManyRequests('this label takes no more feedback today'),
  'blog_entry.unknown': notFound('there is no such entry'),
  'blog_entry.too_many': invalid('a product has at most {max} entries'),

  // personal data
  'export.running': unavailable('another export is running; try again'),
};
