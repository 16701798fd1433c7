/* All that the stand-ins differ in. */
extern const char wj_comgr_soname[];
const char wj_comgr_soname[] = WJ_COMGR_SONAME;
