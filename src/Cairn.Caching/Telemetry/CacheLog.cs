using Cairn.Caching.Serialization;
using Microsoft.Extensions.Logging;

namespace Cairn.Caching.Telemetry;

// The log messages of a cache. Each event is logged at most once in ten seconds, with the number of suppressed ones: failures of a source or
// of the second level may occur thousands of times a second.
internal sealed partial class CacheLog(ILogger logger)
{
    private const long IntervalMs = 10_000;

    private readonly LogGate _factoryFailed = new(IntervalMs);
    private readonly LogGate _notSerialized = new(IntervalMs);
    private readonly LogGate _notDeserialized = new(IntervalMs);
    private readonly LogGate _unreadable = new(IntervalMs);
    private readonly LogGate _dependency = new(IntervalMs);
    private readonly LogGate _dependencyFailed = new(IntervalMs);
    private readonly LogGate _refreshFailed = new(IntervalMs);
    private readonly LogGate _tooLarge = new(IntervalMs);

    public void FactoryFailed(string key, Exception fault)
    {
        if (_factoryFailed.TryPass(Environment.TickCount64, out long others))
        {
            WriteFactoryFailed(fault, key, others);
        }
    }

    public void RefreshFailed(string key, Exception fault)
    {
        if (_refreshFailed.TryPass(Environment.TickCount64, out long others))
        {
            WriteRefreshFailed(fault, key, others);
        }
    }

    public void NotSerialized(Type type, Exception fault)
    {
        if (_notSerialized.TryPass(Environment.TickCount64, out long others))
        {
            WriteNotSerialized(fault, type, others);
        }
    }

    public void NotDeserialized(Type type, Exception fault)
    {
        if (_notDeserialized.TryPass(Environment.TickCount64, out long others))
        {
            WriteNotDeserialized(fault, type, others);
        }
    }

    public void Unreadable(string key, EnvelopeStatus status)
    {
        if (_unreadable.TryPass(Environment.TickCount64, out long others))
        {
            WriteUnreadable(key, status, others);
        }
    }

    public void TooLarge(string key, long bytes, long limit)
    {
        if (_tooLarge.TryPass(Environment.TickCount64, out long others))
        {
            WriteTooLarge(key, bytes, limit, others);
        }
    }

    public void DependencyNotApplied(string key, Exception fault)
    {
        if (_dependency.TryPass(Environment.TickCount64, out long others))
        {
            WriteDependency(fault, key, others);
        }
    }

    public void DependencyFailed(string key, Exception fault)
    {
        if (_dependencyFailed.TryPass(Environment.TickCount64, out long others))
        {
            WriteDependencyFailed(fault, key, others);
        }
    }

    [LoggerMessage(1, LogLevel.Warning, "The factory of '{Key}' failed; its expired value is served. {Others} more such events were not logged.")]
    private partial void WriteFactoryFailed(Exception fault, string key, long others);

    [LoggerMessage(2, LogLevel.Warning, "Refreshing '{Key}' in the background failed; the present value is served. {Others} more such events were not logged.")]
    private partial void WriteRefreshFailed(Exception fault, string key, long others);

    [LoggerMessage(3, LogLevel.Error, "A value of type {Type} could not be serialized and is at most kept in this process. {Others} more such events were not logged.")]
    private partial void WriteNotSerialized(Exception fault, Type type, long others);

    [LoggerMessage(4, LogLevel.Error, "A cached value could not be read back as {Type} and counts as missing. {Others} more such events were not logged.")]
    private partial void WriteNotDeserialized(Exception fault, Type type, long others);

    [LoggerMessage(5, LogLevel.Warning, "The second level's entry of '{Key}' cannot be used ({Status}) and counts as missing. {Others} more such events were not logged.")]
    private partial void WriteUnreadable(string key, EnvelopeStatus status, long others);

    [LoggerMessage(7, LogLevel.Warning,
        "The value of '{Key}' has at least {Bytes} bytes and is not sent to the second level, whose limit is {Limit} (MaximumPayloadBytes). {Others} more such events were not logged.")]
    private partial void WriteTooLarge(string key, long bytes, long limit, long others);

    [LoggerMessage(8, LogLevel.Warning,
        "Values of {Type} are written as JSON although it has attributes of System.Xml.Serialization, because the framework's XmlSerializer needs a public " +
        "constructor without parameters. Add one, or name a format: [CairnSerializer] on the type, or CairnHybridCacheOptions.Formats.")]
    public static partial void JsonInsteadOfXml(ILogger logger, Type type);

    [LoggerMessage(9, LogLevel.Warning, "The keys of the second level could not be listed; the list of keys by tag ends here.")]
    public partial void NotListed(Exception fault);

    [LoggerMessage(10, LogLevel.Error, "A change token that '{Key}' depends on failed. {Others} more such events were not logged.")]
    private partial void WriteDependencyFailed(Exception fault, string key, long others);

    [LoggerMessage(6, LogLevel.Error, "'{Key}' could not be removed after something it depends on changed. {Others} more such events were not logged.")]
    private partial void WriteDependency(Exception fault, string key, long others);
}
