namespace Cairn.FileStore;

/// <summary>Which interface <c>AddDistributedFileStoreCache</c> registers.</summary>
public enum FileStoreCacheVersions
{
    /// <summary><see cref="IDistributedFileStoreCacheString"/>: values are strings. The default.</summary>
    String = 0,

    /// <summary><see cref="IDistributedFileStoreCacheClass"/>: strings, and objects kept as JSON.</summary>
    Class = 1,

    /// <summary><see cref="IDistributedFileStoreCacheBytes"/>: values are bytes, with more than Microsoft's interface has.</summary>
    Bytes = 2,

    /// <summary><see cref="Microsoft.Extensions.Caching.Distributed.IDistributedCache"/>.</summary>
    IDistributedCache = 3,
}
