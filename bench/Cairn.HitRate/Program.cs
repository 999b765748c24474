using Cairn.HitRate;

return HitRateCommand.Create().Parse(args).Invoke();
