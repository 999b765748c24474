namespace Cairn.FileStore;

/// <summary>The interface that <c>AddDistributedFileStoreCache</c> registers.</summary>
public enum FileStoreCacheVersions
{
    /// <summary><see cref="IDistributedFileStoreCacheString"/>: values are strings. The default.</summary>
    String = 0,

    /// <summary><see cref="IDistributedFileStoreCacheClass"/>: values are strings, and objects stored as JSON.</summary>
    Class = 1,

    /// <summary><see cref="IDistributedFileStoreCacheBytes"/>: values are bytes, with operations that Microsoft's interface lacks.</summary>
    Bytes = 2,

    /// <summary><see cref="Microsoft.Extensions.Caching.Distributed.IDistributedCache"/>.</summary>
    IDistributedCache = 3,
}
