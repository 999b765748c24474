using Cairn.Soak;

return SoakCommand.Create().Parse(args).Invoke();
