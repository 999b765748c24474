namespace Cairn.WriteAhead;

/// <summary>What of <see cref="StoreOptions"/> concerns the log.</summary>
internal readonly record struct LogOptions(long FileBytes, TimeSpan CommitDelay, TimeProvider Clock)
{
    public static LogOptions From(StoreOptions options) => new(options.LogFileBytes, options.CommitDelay, options.Clock);
}
