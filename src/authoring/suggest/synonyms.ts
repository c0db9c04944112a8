import { type Synonyms, synonyms } from './closest.ts'

// Words of other languages: json-rules-engine, Kubernetes, OPA, Cerbos, Cedar, AWS IAM, Casbin. Words are folded.

/** Synonyms of effects and default decisions. */
export const EFFECT_WORDS: Synonyms = synonyms({
  allow:
    'permit permitted allowed allows accept accepted grant granted pass ok yes true effectallow effectpermit whitelist',
  deny: 'forbid forbidden block blocked reject rejected refuse refused prohibit disallow denied denies no false effectdeny drop stop blacklist',
  require_approval:
    'approve approval review hold ask escalate manual human confirm pending needsapproval requiresapproval approvalrequired humanapproval challenge',
})

/** Synonyms of the steps that decide, as tests name them. */
export const STEP_WORDS: Synonyms = synonyms({
  invalid_context: 'schema context invalid',
  deny_rule: 'deny denied block',
  risk: 'score riskscore threshold thresholds',
  hold_rule: 'hold approval requireapproval',
  allow_rule: 'allow allowed permit',
  default: 'defaults none norule',
})

/** Synonyms of the environments of keys. */
export const ENVIRONMENT_WORDS: Synonyms = synonyms({
  live: 'prod production prd main',
  test: 'dev development staging stage sandbox qa',
})

/** Synonyms of the keys of a policy, grouped by keys that can stand in the same place. */
export const KEY_WORDS: readonly Synonyms[] = [
  // Keys of tests; name is also a key of factors.
  synonyms({
    name: 'title',
    matrix: 'given request input',
    expect: 'then result want wanted',
    contexts: 'context',
    plans: 'plan',
    agents: 'agent',
    identity: 'id name subject',
  }),
  synonyms({
    apiVersion: 'version schemaversion api',
    tenant: 'tenantid org organization organisation account customer',
    defaults: 'default defaultdecision defaulteffect defaultaction defaultpolicy fallback',
    timezone: 'tz zone timelocation',
    rules: 'policies statements statement policy rule permissions',
    risk: 'factors riskfactors scoring scores',
    domains: 'domain groups',
    lists: 'constants sets list',
    conditions: 'definitions variables named',
    actions: 'schemas operations tools',
    facts: 'attributes inputs fields',
    thresholds: 'limits',
    approval: 'approvals approve',
    session: 'sessions conversation thread',
    history: 'overtime counters ratelimit ratelimits limiter aggregates',
  }),
  synonyms({
    id: 'name sid ruleid key',
    name: 'id factor',
    actions: 'action actionpatterns patterns on resources operations notaction tools targets',
    effect: 'decision outcome result then verdict',
    reason: 'message because why msg output',
    when: 'if conditions condition unless where match',
    description: 'desc comment note notes doc docs title',
    weight: 'points score value amount risk',
    scale: 'range',
  }),
  synonyms({
    decision: 'effect action outcome result',
    reason: 'message because msg',
    requireApproval: 'approval review hold medium',
    deny: 'block reject high',
    expiresIn: 'timeout expires expiry ttl expiration deadline duration validfor',
    approvers: 'groups roles by users reviewers approvergroups',
    quorum: 'count minimum min required minapprovals approvals requiredapprovals threshold',
    selfApproval: 'self allowselfapproval',
    unbound: 'ignore unboundpaths exclude',
  }),
  synonyms({
    type: 'kind datatype',
    unit: 'units',
    default: 'fallback defaultvalue',
    description: 'desc comment note notes doc docs title',
    values: 'items entries members data list',
    file: 'path source filename from',
    context: 'schema input parameters inputschema contextschema',
    plan: 'planschema',
  }),
  // Keys of session and history.
  synonyms({
    taken: 'done happened seen actions',
    count: 'counts counters number',
    sum: 'sums total totals',
    within: 'window period interval duration last timeframe timewindow per',
    by: 'scope groupby for key of partition',
  }),
  // Keys of the histories of tests.
  synonyms({ ago: 'before at age when', histories: 'history past' }),
  synonyms({
    fact: 'field path attribute',
    from: 'min start low minimum lower',
    to: 'max end high maximum upper',
  }),
]

/** Synonyms of the keys of a condition. */
export const CONDITION_WORDS: Synonyms = synonyms({
  all: 'and allof every',
  any: 'or anyof oneof some',
  condition: 'ref $ref use conditionref conditionname',
  fact: 'field attribute key path variable var subject name',
  operator: 'op comparison comparator',
  value: 'values val equals constant than',
  not: 'negate',
})

/** Synonyms of types of facts. */
export const FACT_TYPE_WORDS: Synonyms = synonyms({
  integer: 'int long int32 int64 whole',
  number: 'float double decimal numeric money amount percent',
  string: 'str text char varchar enum uuid email',
  boolean: 'bool flag',
  date: 'datetime timestamp time instant',
  list: 'array set tuple',
  object: 'dict map mapping record struct hash json',
})

/** Synonyms of types in a JSON Schema. */
export const SCHEMA_TYPE_WORDS: Synonyms = synonyms({
  integer: 'int long int32 int64',
  number: 'float double decimal numeric',
  string: 'str text char date datetime uuid email',
  boolean: 'bool flag',
  array: 'list set tuple',
  object: 'dict map mapping record struct',
  null: 'none nil',
})

/** Synonyms of schema keywords, including those of earlier drafts. */
export const KEYWORD_WORDS: Synonyms = synonyms({
  $defs: 'definitions defs components',
  dependentRequired: 'dependencies',
  examples: 'example',
  pattern: 'regex regexp matches',
  minimum: 'min',
  maximum: 'max',
  exclusiveMinimum: 'greaterthan above',
  exclusiveMaximum: 'lessthan below',
  properties: 'fields props members',
  enum: 'oneofvalues values allowed',
  description: 'desc comment',
  required: 'mandatory',
  $ref: 'ref reference',
  type: 'datatype',
  additionalProperties: 'additional extraproperties',
})

/** Synonyms of operators. */
export const OPERATOR_WORDS: Synonyms = synonyms({
  equal: '== === = eq equals is isequal equalto stringequals numericequals bool same',
  notEqual: '!= !== <> ≠ ne neq isnot notequals notequalto stringnotequals numericnotequals not different !equal',
  lessThan: '< lt less numericlessthan below under smaller smallerthan',
  lessThanInclusive:
    '<= =< ≤ lte le lessorequal lessthanorequal lessthanorequalto lessequal lessthanorequals numericlessthanequals atmost max',
  greaterThan: '> gt greater numericgreaterthan above over more morethan larger',
  greaterThanInclusive:
    '>= => ≥ gte ge greaterorequal greaterthanorequal greaterthanorequalto greaterequal greaterthanorequals numericgreaterthanequals atleast min',
  in: 'oneof isin memberof within isoneof',
  notIn: 'nin !in isnotin noneof',
  contains: 'includes has contain include hasitem',
  doesNotContain: 'notcontains notcontain !contains excludes doesnotinclude lacks',
  matches: '=~ ~= ~ regex regexp like match regexmatch stringlike matchesregex pattern glob',
  startsWith: 'beginswith prefix hasprefix begins starts startwith',
  endsWith: 'suffix hassuffix ends endwith',
  exists: 'exist present isset isnotnull notnull defined isdefined ispresent hasvalue notmissing',
  missing: 'isnull null absent notexists notexist doesnotexist !exists undefined unset isempty isundefined notpresent',
  inList: 'listed onlist',
  notInList: 'notonlist !inlist unlisted',
  inCidr: 'cidr ipaddress ipincidr insubnet inrange iprange',
  before: 'datelessthan earlier earlierthan until',
  after: 'dategreaterthan later laterthan since',
})

/** Names of comparisons of a list with another, which are decorated here. */
export const ITEM_WORDS: Synonyms = synonyms({
  'someFact:in': 'containsany containsanyof containsoneof hasany hasanyof anyin anyof intersects overlaps',
  'everyFact:in': 'allin subsetof issubsetof containsonly',
})

export const DECORATOR_WORDS: Synonyms = synonyms({
  not: '! no negate',
  someFact: 'some any anyfact somevalue anyof exists',
  everyFact: 'every all allfact allfacts everyvalue allof each',
})
