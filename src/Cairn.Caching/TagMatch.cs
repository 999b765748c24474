namespace Cairn.Caching;

/// <summary>How many of some tags an entry must carry.</summary>
public enum TagMatch
{
    /// <summary>At least one of the tags.</summary>
    Any = 0,

    /// <summary>All of the tags. It may carry further ones.</summary>
    All,
}
