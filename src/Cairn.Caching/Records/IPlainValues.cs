namespace Cairn.Caching.Records;

/// <summary>A distributed cache that can store the payload of a value so that other programs read it (<see cref="DistributedRecords.HeadBytes"/>).</summary>
internal interface IPlainValues
{
    /// <summary>True if the cache does so. Payloads must not be compressed then.</summary>
    bool StoresPlainValues { get; }
}
