using Cairn.Caching.Levels;

namespace Cairn.Caching.Tests.Levels;

public class CircuitBreakerTests
{
    private readonly ManualClock _clock = new(hasTimers: true);
    private double _jitter;

    [Fact]
    public void Failures_in_a_row_open_it_and_a_success_between_them_does_not()
    {
        CircuitBreaker breaker = Create();
        Fail(breaker, 4);
        Succeed(breaker);
        Fail(breaker, 4);
        Assert.False(breaker.IsOpen);

        Fail(breaker, 1);

        Assert.True(breaker.IsOpen);
        Assert.False(breaker.TryEnter(out _));
        Assert.Equal(5000, breaker.WaitMs);
    }

    [Fact]
    public void One_call_passes_when_the_break_is_over_and_closes_it_when_it_succeeds()
    {
        CircuitBreaker breaker = Create();
        Fail(breaker, 5);
        _clock.Advance(TimeSpan.FromMilliseconds(4999));
        Assert.False(breaker.TryEnter(out _));
        _clock.Advance(TimeSpan.FromMilliseconds(1));

        Assert.True(breaker.TryEnter(out bool isProbe));
        Assert.True(isProbe);
        Assert.False(breaker.TryEnter(out _));

        breaker.OnSuccess(isProbe);
        Assert.True(breaker.TryEnter(out isProbe));
        Assert.False(isProbe);
        Assert.Equal(0, breaker.WaitMs);
    }

    [Fact]
    public void Each_probe_that_fails_doubles_the_break_up_to_the_maximum_and_a_success_resets_it()
    {
        CircuitBreaker breaker = Create();
        Fail(breaker, 5);
        foreach (int seconds in new[] { 5, 10, 20, 40, 60, 60 })
        {
            Assert.Equal(seconds * 1000, breaker.WaitMs);
            _clock.Advance(TimeSpan.FromSeconds(seconds));
            Fail(breaker, 1);
        }

        _clock.Advance(TimeSpan.FromSeconds(60));
        Succeed(breaker);
        Fail(breaker, 5);
        Assert.Equal(5000, breaker.WaitMs);
    }

    [Fact]
    public void Jitter_takes_off_up_to_a_fifth()
    {
        _jitter = 1;
        CircuitBreaker breaker = Create();

        Fail(breaker, 5);

        Assert.Equal(4000, breaker.WaitMs);
    }

    [Fact]
    public void A_call_that_began_before_it_opened_neither_closes_it_nor_prolongs_the_break()
    {
        CircuitBreaker breaker = Create();
        Assert.True(breaker.TryEnter(out bool first));
        Assert.True(breaker.TryEnter(out bool second));
        Fail(breaker, 5);

        breaker.OnSuccess(first);
        Assert.False(breaker.OnFailure(second));

        Assert.True(breaker.IsOpen);
        Assert.Equal(5000, breaker.WaitMs);
    }

    [Fact]
    public void A_probe_whose_caller_went_away_lets_the_next_call_be_the_probe()
    {
        CircuitBreaker breaker = Create();
        Fail(breaker, 5);
        _clock.Advance(TimeSpan.FromSeconds(5));
        Assert.True(breaker.TryEnter(out bool isProbe));

        breaker.OnNothingLearnt(isProbe);

        Assert.True(breaker.TryEnter(out isProbe));
        Assert.True(isProbe);
    }

    [Fact]
    public void All_calls_pass_when_the_level_reports_that_it_works_and_a_success_closes_it()
    {
        CircuitBreaker breaker = Create();
        Fail(breaker, 5);

        breaker.EndBreak();

        Assert.False(breaker.IsOpen);
        Assert.True(breaker.TryEnter(out bool first));
        Assert.True(breaker.TryEnter(out bool second));
        breaker.OnSuccess(first);
        breaker.OnSuccess(second);
        Fail(breaker, 4);
        Assert.False(breaker.IsOpen);
    }

    [Fact]
    public void One_failure_opens_it_again_although_the_level_reports_that_it_works_and_then_one_call_passes_for_each_report_until_the_break_is_over()
    {
        CircuitBreaker breaker = Create();
        Fail(breaker, 5);
        breaker.EndBreak();
        Fail(breaker, 1);
        Assert.True(breaker.IsOpen);
        Assert.Equal(10_000, breaker.WaitMs);

        breaker.EndBreak();

        Assert.True(breaker.TryEnter(out bool isProbe));
        Assert.True(isProbe);
        Assert.False(breaker.TryEnter(out _));
        breaker.OnFailure(isProbe);
        Assert.Equal(20_000, breaker.WaitMs);
        _clock.Advance(TimeSpan.FromSeconds(20));
        breaker.EndBreak();
        Assert.True(breaker.TryEnter(out _));
        Assert.True(breaker.TryEnter(out _));
    }

    private static void Fail(CircuitBreaker breaker, int times)
    {
        for (int i = 0; i < times; i++)
        {
            Assert.True(breaker.TryEnter(out bool isProbe));
            breaker.OnFailure(isProbe);
        }
    }

    private static void Succeed(CircuitBreaker breaker)
    {
        Assert.True(breaker.TryEnter(out bool isProbe));
        breaker.OnSuccess(isProbe);
    }

    private CircuitBreaker Create() => new(new() { Clock = _clock, Jitter = () => _jitter });
}
