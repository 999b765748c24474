namespace Cairn;

/// <summary>How an attempt to lease a missing key ended.</summary>
public enum LeaseStatus
{
    /// <summary>There is a value; no lease is needed.</summary>
    Hit = 0,

    /// <summary>The lease is the caller's: compute the value and set it, or give the lease back.</summary>
    Acquired,

    /// <summary>Another holds the lease, and kept it for as long as the caller wanted to wait.</summary>
    Held,

    /// <summary>The store could not be written to: no lock within the time-out, or no room. Compute without a lease.</summary>
    Busy,
}
