using Cairn.Soak.Load;

namespace Cairn.Benchmarks.Tests.Soak;

public class KeyModelTests
{
    private static readonly DateTimeOffset Now = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    private readonly KeyModel _model = new("key", keys: 2, longestValue: 1_000);
    private readonly Random _random = new(1);

    [Fact]
    public void Acknowledged_value_and_nothing_are_right()
    {
        string value = Set(seconds: 0);

        Assert.Null(_model.FaultOf(0, value, Now));
        Assert.Null(_model.FaultOf(0, null, Now));
    }

    [Fact]
    public void Value_older_than_the_acknowledged_one_is_a_fault()
    {
        string older = Set(seconds: 0);
        Set(seconds: 0);

        Assert.NotNull(_model.FaultOf(0, older, Now));
    }

    [Fact]
    public void Value_whose_reply_never_came_and_the_one_before_it_are_right()
    {
        string older = Set(seconds: 0);
        string newer = _model.Begin(0, _random, 0);
        _model.Abandon(0, Now);

        Assert.Null(_model.FaultOf(0, older, Now));
        Assert.Null(_model.FaultOf(0, newer, Now));
    }

    [Fact]
    public void Removed_value_is_a_fault()
    {
        string value = Set(seconds: 0);
        _model.Remove(0);

        Assert.NotNull(_model.FaultOf(0, value, Now));
    }

    [Fact]
    public void Expired_value_is_a_fault()
    {
        string value = Set(seconds: 10);

        Assert.Null(_model.FaultOf(0, value, Now.AddSeconds(10)));
        Assert.NotNull(_model.FaultOf(0, value, Now.AddSeconds(14)));
    }

    [Fact]
    public void Value_of_another_key_and_a_damaged_one_are_faults()
    {
        string value = Set(seconds: 0);

        Assert.NotNull(_model.FaultOf(1, value, Now));
        Assert.NotNull(_model.FaultOf(0, value + "x", Now));
    }

    private string Set(int seconds)
    {
        string value = _model.Begin(0, _random, seconds);
        _model.Acknowledge(0, Now);
        return value;
    }
}
