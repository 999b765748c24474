namespace Cairn.Cli.Arguments;

/// <summary>The options of set and touch for the expiration of an entry.</summary>
internal sealed class ExpirationOptions
{
    private readonly ValueOption<TimeSpan> _timeToLive = ValueOptions.Time("--ttl", "Expires this long from now: 30s, 5m, 1h30m, 2d.");

    private readonly ValueOption<DateTimeOffset> _expires = ValueOptions.Moment(
        "--expires", "Expires at this time in ISO 8601, such as 2026-12-31T23:59:59Z.");

    private readonly ValueOption<TimeSpan> _sliding = ValueOptions.Time(
        "--sliding", "Expires when it has not been read for this long, but not later than --ttl or --expires.");

    private readonly Flag _never = new("--no-expiry", "Does not expire, even if the collection has a default.");

    public void AddTo(Command command)
    {
        command.Add(_timeToLive);
        command.Add(_expires);
        command.Add(_sliding);
        command.Add(_never);
    }

    /// <summary>Returns the requested expiration; null if none was requested.</summary>
    /// <exception cref="ToolException">Two options contradict each other, or a value is out of range.</exception>
    public Expiration? Read(ParseResult parsed, TimeProvider clock)
    {
        TimeSpan? timeToLive = parsed.GetValue(_timeToLive);
        DateTimeOffset? expires = parsed.GetValue(_expires);
        TimeSpan? sliding = parsed.GetValue(_sliding);
        bool isNever = parsed.GetValue(_never);
        Require(timeToLive is null || expires is null, "--ttl and --expires contradict each other");
        Require(!isNever || (timeToLive ?? sliding) is null && expires is null, "--no-expiry contradicts the other expiration");
        RequireRange("--ttl", timeToLive);
        RequireRange("--sliding", sliding);
        Require(
            expires is null || expires > clock.GetUtcNow(),
            "--expires lies in the past; 'cairn del' removes a key at once");

        if (sliding is { } interval)
        {
            return Expiration.Sliding(interval, timeToLive is { } limit ? clock.GetUtcNow() + limit : expires);
        }

        return timeToLive is { } time ? Expiration.After(time)
            : expires is { } moment ? Expiration.At(moment)
            : isNever ? Expiration.None
            : null;
    }

    private static void RequireRange(string option, TimeSpan? time) => Require(
        time is null || (time > TimeSpan.Zero && time <= TimeSpan.FromDays(100_000)),
        $"{option} must be above zero and at most 100000d");

    private static void Require(bool isTrue, string otherwise)
    {
        if (!isTrue)
        {
            throw ToolException.Usage(otherwise);
        }
    }
}
