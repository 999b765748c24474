namespace Cairn.Protocol;

/// <summary>The commands of memcached's protocols. The names are those of the text protocol.</summary>
internal enum MemcachedCommand : byte
{
    /// <summary>An unknown command.</summary>
    None = 0,

    /// <summary><c>get KEY*</c></summary>
    Get,

    /// <summary><c>gets KEY*</c>: get with versions.</summary>
    Gets,

    /// <summary><c>gat EXPTIME KEY*</c>: get and touch.</summary>
    Gat,

    /// <summary><c>gats EXPTIME KEY*</c>: get and touch, with versions.</summary>
    Gats,

    /// <summary><c>set KEY FLAGS EXPTIME BYTES [noreply]</c></summary>
    Set,

    /// <summary><c>add KEY FLAGS EXPTIME BYTES [noreply]</c></summary>
    Add,

    /// <summary><c>replace KEY FLAGS EXPTIME BYTES [noreply]</c></summary>
    Replace,

    /// <summary><c>append KEY FLAGS EXPTIME BYTES [noreply]</c></summary>
    Append,

    /// <summary><c>prepend KEY FLAGS EXPTIME BYTES [noreply]</c></summary>
    Prepend,

    /// <summary><c>cas KEY FLAGS EXPTIME BYTES VERSION [noreply]</c></summary>
    Cas,

    /// <summary><c>delete KEY [0] [noreply]</c></summary>
    Delete,

    /// <summary><c>incr KEY DELTA [noreply]</c></summary>
    Incr,

    /// <summary><c>decr KEY DELTA [noreply]</c></summary>
    Decr,

    /// <summary><c>touch KEY EXPTIME [noreply]</c></summary>
    Touch,

    /// <summary><c>mg KEY FLAG*</c></summary>
    MetaGet,

    /// <summary><c>ms KEY BYTES FLAG*</c></summary>
    MetaSet,

    /// <summary><c>md KEY FLAG*</c></summary>
    MetaDelete,

    /// <summary><c>ma KEY FLAG*</c></summary>
    MetaArithmetic,

    /// <summary><c>me KEY [b]</c></summary>
    MetaDebug,

    /// <summary><c>mn</c></summary>
    MetaNoop,

    /// <summary><c>flush_all [DELAY] [noreply]</c></summary>
    FlushAll,

    /// <summary><c>version</c></summary>
    Version,

    /// <summary><c>verbosity LEVEL [noreply]</c></summary>
    Verbosity,

    /// <summary><c>stats [ARGUMENT*]</c></summary>
    Stats,

    /// <summary><c>cache_memlimit MEGABYTES [noreply]</c></summary>
    CacheMemlimit,

    /// <summary><c>lru_crawler ARGUMENT*</c></summary>
    LruCrawler,

    /// <summary><c>lru ARGUMENT*</c></summary>
    Lru,

    /// <summary><c>slabs ARGUMENT*</c></summary>
    Slabs,

    /// <summary><c>watch ARGUMENT*</c></summary>
    Watch,

    /// <summary><c>refresh_certs</c></summary>
    RefreshCerts,

    /// <summary><c>shutdown [graceful]</c></summary>
    Shutdown,

    /// <summary><c>quit</c></summary>
    Quit,

    /// <summary>The binary protocol's <c>noop</c>.</summary>
    Noop,

    /// <summary>The binary protocol's list of authentication mechanisms.</summary>
    SaslList,

    /// <summary>The binary protocol's authentication.</summary>
    SaslAuth,

    /// <summary>The next step of <see cref="SaslAuth"/>.</summary>
    SaslStep,
}
