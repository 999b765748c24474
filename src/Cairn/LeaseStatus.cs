namespace Cairn;

/// <summary>The result of an attempt to lease a missing key.</summary>
public enum LeaseStatus
{
    /// <summary>The key has a value, so no lease is needed.</summary>
    Hit = 0,

    /// <summary>The caller has the lease. It must compute the value and set it, or release the lease.</summary>
    Acquired,

    /// <summary>Another caller holds the lease and did not release it within the time to wait.</summary>
    Held,

    /// <summary>The store could not be written to: no lock within the time-out, or no room. Compute the value without a lease.</summary>
    Busy,
}
