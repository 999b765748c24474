namespace Cairn.Caching.Levels;

/// <summary>An exception of a second level that knows what its user can do about it.</summary>
internal interface IAdvisedFailure
{
    /// <summary>Sentences that begin with a space; empty if there is no advice.</summary>
    string Advice { get; }
}
