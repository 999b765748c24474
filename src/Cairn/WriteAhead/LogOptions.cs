namespace Cairn.WriteAhead;

/// <summary>The part of <see cref="StoreOptions"/> that concerns the log.</summary>
internal readonly record struct LogOptions(long FileBytes, TimeSpan CommitDelay, TimeProvider Clock)
{
    public static LogOptions From(StoreOptions options) => new(options.LogFileBytes, options.CommitDelay, options.TimeProvider);
}
